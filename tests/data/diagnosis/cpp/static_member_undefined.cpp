#include <iostream>

class Widget {
public:
    static int instances;
    Widget() { ++instances; }
    ~Widget() { --instances; }
};

int main() {
    Widget a, b;
    std::cout << Widget::instances << "\n";
}
