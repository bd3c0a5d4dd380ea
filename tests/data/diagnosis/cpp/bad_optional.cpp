#include <iostream>
#include <optional>

static std::optional<int> find(int) { return std::nullopt; }

int main() {
    std::cout << find(3).value() << "\n";
}
