#include <iostream>
#include <string>

struct Point {
    double x, y;
};

Point midpoint(const Point &a, const Point &b) {
    return {(a.x + b.x) / 2, (a.y + b.y) / 2};
}

int main() {
    Point a{0, 0}, b{4, 2};
    Point m = midpoint(a, b);
    std::cout << "midpoint: " << m << std::endl;
    return 0;
}
