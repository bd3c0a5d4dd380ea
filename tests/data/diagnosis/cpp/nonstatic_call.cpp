class A { public: int go() { return 1; } };
int main() { return A::go(); }
