#include <iostream>
#include <map>
#include <string>
int f(const std::map<std::string,int> &m) { return m["a"]; }
int main() { std::cout << f({{"a",1}}); }
