#include <string>

std::string label(int n) {
    return std::string(n) + " pieces";
}

int main() {
    return label(5).size() > 0;
}
