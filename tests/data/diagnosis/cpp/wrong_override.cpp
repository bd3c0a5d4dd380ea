#include <iostream>

struct Shape {
    virtual double area() const { return 0; }
    virtual ~Shape() = default;
};
struct Square : Shape {
    double area() override { return 4; }
};

int main() {
    Square s;
    std::cout << s.area() << "\n";
}
