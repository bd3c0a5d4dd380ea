#include <iostream>
#include <string>
int main() { const char *p = nullptr; std::string s = p; std::cout << s; }
