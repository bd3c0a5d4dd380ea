#include <string>
struct A { virtual std::string n() const { return "a"; } virtual ~A() = default; };
struct B : A { std::string n() override { return "b"; } };
int main() { B b; return b.n().size(); }
