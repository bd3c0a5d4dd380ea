#include <algorithm>
#include <iostream>
#include <vector>

int main() {
    std::vector<int> v = {1, 5, 9, 13};
    int threshold = 6;
    auto n = std::count_if(v.begin(), v.end(), [](int x) {
        return x > threshold;
    });
    std::cout << n << "\n";
}
