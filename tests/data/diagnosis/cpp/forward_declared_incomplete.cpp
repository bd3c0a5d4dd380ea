#include <iostream>

class Engine;

class Car {
public:
    void start(Engine &e) { e.ignite(); }
};

class Engine {
public:
    void ignite() { std::cout << "vroom\n"; }
};

int main() {
    Engine e;
    Car c;
    c.start(e);
}
