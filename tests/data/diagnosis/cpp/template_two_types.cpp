#include <iostream>

template <typename T>
T largest(T a, T b) { return a > b ? a : b; }

int main() {
    std::cout << largest(1, 2.5);
}
