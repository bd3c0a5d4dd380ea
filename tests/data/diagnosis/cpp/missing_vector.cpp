#include <iostream>

int main() {
    std::vector<int> values{3, 1, 2};
    for (int v : values)
        std::cout << v << "\n";
}
