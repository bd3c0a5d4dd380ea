#include <iostream>
#include <string>

class Engine {
public:
    explicit Engine(int hp) : hp_(hp) {}
    int power() const { return hp_; }
private:
    int hp_;
};

class Car {
public:
    Car(std::string name) {
        name_ = name;
    }
    int power() const { return engine_.power(); }
private:
    std::string name_;
    Engine engine_;
};

int main() {
    Car c("beetle");
    std::cout << c.power() << "\n";
}
