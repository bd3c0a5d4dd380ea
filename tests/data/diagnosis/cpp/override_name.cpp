struct A { virtual void speak() {} virtual ~A() = default; };
struct B : A { void speek() override {} };
int main() { B b; }
