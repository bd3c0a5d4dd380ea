#include <iostream>
class T { public: int v = 3; };
int main() { T *t = new T(); std::cout << t.v; }
