#include <iostream>
#include <memory>

class Shape {
public:
    virtual ~Shape();
    virtual double area() const;
};

class Square : public Shape {
    double side_;
public:
    explicit Square(double s) : side_(s) {}
    double area() const override { return side_ * side_; }
};

int main() {
    std::unique_ptr<Shape> s = std::make_unique<Square>(3);
    std::cout << s->area() << "\n";
}
