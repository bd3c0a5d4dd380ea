#include <string>
int main() { std::string s = 5; int n = std::string("3"); }
