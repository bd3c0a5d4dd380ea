#include <iostream>

int main() {
    cout << "hello" << std::endl;
}
