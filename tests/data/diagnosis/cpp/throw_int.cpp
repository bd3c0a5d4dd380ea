#include <iostream>

int parse(const char *text) {
    int v = 0;
    for (const char *c = text; *c; ++c) {
        if (*c < '0' || *c > '9') throw 42;
        v = v * 10 + (*c - '0');
    }
    return v;
}

int main() {
    std::cout << parse("123") << std::endl;
    std::cout << parse("12a") << std::endl;
}
