#include <iostream>
#include <vector>
class T { public: int v = 3; };
int main() { T t(); std::cout << t.v; }
