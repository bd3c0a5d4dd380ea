#include <nlohmann/json.hpp>
#include <iostream>

int main() {
    std::cout << "hello\n";
}
