#include <iostream>

int main() {
    int n = 4
    std::cout << n << "\n";
}
