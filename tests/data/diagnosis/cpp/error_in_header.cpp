#include "shapes.hpp"
#include <iostream>

int main() {
    std::cout << area(2.0) << "\n";
}
