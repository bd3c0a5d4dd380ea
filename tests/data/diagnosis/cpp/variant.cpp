#include <iostream>
#include <variant>
#include <string>
int main() { std::variant<int, std::string> v = "a"; std::cout << std::get<int>(v); }
