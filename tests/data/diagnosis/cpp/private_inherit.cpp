class A { public: void go() {} };
class B : A {};
int main() { B b; b.go(); }
