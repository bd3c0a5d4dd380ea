#include <vector>
#include <string>
int main() { std::vector<int> v{1}; std::string k = "0"; return v[k]; }
