#include <iostream>
#include <string>
int main() { std::string s = "abc"; std::cout << s.substr(5, 2); }
