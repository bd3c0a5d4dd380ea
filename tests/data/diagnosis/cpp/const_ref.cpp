#include <vector>
void add(const std::vector<int> &v) { v.push_back(1); }
int main() { std::vector<int> v; add(v); }
