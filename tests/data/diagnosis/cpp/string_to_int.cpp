#include <iostream>
#include <string>

int main() {
    int n = std::string("42");
    std::cout << n + 1 << "\n";
}
