class A { int x = 1; public: static int go() { return x; } };
int main() { return A::go(); }
