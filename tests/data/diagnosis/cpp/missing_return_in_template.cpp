#include <iostream>
#include <string>

template <typename T>
T max_of(T a, T b) {
    return a > b ? a : b;
}

int main() {
    std::cout << max_of(3, 7) << "\n";
    std::cout << max_of(3, 4.5) << "\n";
    std::cout << max_of(std::string("a"), std::string("b")) << "\n";
}
