#include <iostream>
#include <string>

static double area(double width, double height) {
    return width * height;
}

int main() {
    std::cout << area("two", 3.0) << "\n";
}
