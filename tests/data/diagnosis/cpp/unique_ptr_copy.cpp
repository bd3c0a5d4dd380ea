#include <iostream>
#include <memory>

int main() {
    auto first = std::make_unique<int>(3);
    std::unique_ptr<int> second = first;
    std::cout << *second << "\n";
}
