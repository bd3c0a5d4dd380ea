#include <iostream>
class P { int x; public: P(int v) : x(v) {} int get() { return x; } };
int main() { P p; std::cout << p.get(); }
