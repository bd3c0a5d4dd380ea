#include <string>
int main() { std::string s = "a"; switch (s) { case "a": return 1; } return 0; }
