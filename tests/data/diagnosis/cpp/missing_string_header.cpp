#include <iostream>

int main() {
    std::optional<int> n;
    std::cout << n.has_value() << "\n";
}
