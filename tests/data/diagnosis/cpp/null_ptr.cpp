#include <iostream>
struct N { int v; N *next; };
int main() {
    N a{1, nullptr};
    N *p = &a;
    std::cout << p->next->v << "\n";
}
