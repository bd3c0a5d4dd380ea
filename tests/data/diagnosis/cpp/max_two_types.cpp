#include <algorithm>
#include <iostream>
#include <vector>

int main() {
    std::vector<int> scores = {4, 9};
    int least = 1;
    least = std::max(scores.size(), least);
    std::cout << least << "\n";
}
