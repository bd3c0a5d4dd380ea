#include <iostream>
#include <memory>
#include <utility>
struct N { int v; };
int main() {
    auto a = std::make_unique<N>();
    auto b = std::move(a);
    std::cout << a->v << "\n";
}
