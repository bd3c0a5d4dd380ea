#include <iostream>
class P { int x; public: P(int v) : x(v) {} int get() { return x; } };
class Q { P p; public: Q() {} };
int main() { Q q; }
