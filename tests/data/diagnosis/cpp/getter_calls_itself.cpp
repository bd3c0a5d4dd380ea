#include <iostream>
#include <string>

class Lamp {
    std::string maker_ = "Olo";

public:
    std::string maker() const {
        return maker();
    }
};

int main() {
    Lamp lamp;
    std::cout << lamp.maker() << "\n";
}
