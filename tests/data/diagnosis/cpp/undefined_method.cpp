#include <iostream>

struct Counter {
    int next();
};

int main() {
    Counter c;
    std::cout << c.next() << "\n";
}
