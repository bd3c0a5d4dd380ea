#include <iostream>

struct Point {
    int x, y;
}

int main() {
    Point p{1, 2};
    std::cout << p.x << "\n";
}
