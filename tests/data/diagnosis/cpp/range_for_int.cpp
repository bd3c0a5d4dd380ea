#include <iostream>

int main() {
    int n = 5;
    for (int i : n) {
        std::cout << i << "\n";
    }
    return 0;
}
