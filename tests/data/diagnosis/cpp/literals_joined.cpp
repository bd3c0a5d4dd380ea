#include <string>

int main() {
    std::string s = "hello " + "world";
    return s.size() > 0;
}
