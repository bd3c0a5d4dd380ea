#include <stdio.h>
#include <iostream>

int main(void) {
    std::cout << "hello" << std::endl;
    return 0;
}
