#include <algorithm>
#include <list>
int main() { std::list<int> v{3,1}; std::sort(v.begin(), v.end()); }
