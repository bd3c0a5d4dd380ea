#include <iostream>
#include <string>

std::string label(int id, const std::string &name) {
    std::string out = "#";
    out = out + id + ": " + name;
    return out;
}

int main() {
    std::cout << label(3, "tea") << "\n";
}
