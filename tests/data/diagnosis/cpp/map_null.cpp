#include <iostream>
#include <map>
#include <string>
struct N { int v; };
int main() {
    std::map<std::string, N*> m;
    N n{3};
    m["a"] = &n;
    std::cout << m["b"]->v << "\n";
}
