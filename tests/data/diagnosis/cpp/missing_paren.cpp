#include <iostream>

int main() {
    int a = 1;
    int b = 2;
    if ((a < b) {
        std::cout << "less\n";
    }
}
