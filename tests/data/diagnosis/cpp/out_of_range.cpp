#include <iostream>
#include <vector>

int main() {
    std::vector<int> v{1, 2, 3};
    for (size_t i = 0; i <= v.size(); i++)
        std::cout << v.at(i) << "\n";
}
