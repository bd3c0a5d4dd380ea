#include <iostream>

twice(int n) {
    return n * 2;
}

int main() {
    std::cout << twice(2) << "\n";
}
