#include <string>
class A { public: A(std::string n) {} };
class B : public A { public: B() {} };
int main() { B b; }
