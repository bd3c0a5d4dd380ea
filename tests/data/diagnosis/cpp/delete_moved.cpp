#include <iostream>

int main() {
    int *values = new int[8]{5, 6, 7};
    for (int i = 0; i < 3; i++)
        std::cout << *values++ << "\n";
    delete[] values;
}
