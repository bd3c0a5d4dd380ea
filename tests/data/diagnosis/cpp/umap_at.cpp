#include <iostream>
#include <unordered_map>
#include <string>
int main() { std::unordered_map<std::string,int> m{{"a",1}}; std::cout << m.at("b"); }
