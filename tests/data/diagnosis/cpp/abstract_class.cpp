#include <iostream>

struct Shape {
    virtual double area() const = 0;
};
struct Circle : Shape {
    double radius = 1;
};

int main() {
    Circle c;
    std::cout << c.radius << "\n";
}
