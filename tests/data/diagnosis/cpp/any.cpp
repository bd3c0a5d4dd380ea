#include <any>
#include <iostream>
int main() { std::any a = 3; std::cout << std::any_cast<double>(a); }
