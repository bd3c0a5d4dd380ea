#include <iostream>
#include "stack.h"

int main() {
    Stack<int> s;
    s.push(3);
    s.push(4);
    std::cout << s.pop() << std::endl;
    return 0;
}
