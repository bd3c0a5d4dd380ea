#include <iostream>
#include <optional>
std::optional<int> f(int x) { if (x > 3) return x; return std::nullopt; }
int main() { std::cout << f(1).value(); }
