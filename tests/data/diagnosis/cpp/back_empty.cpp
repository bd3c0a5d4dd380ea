#include <iostream>
#include <vector>
#include <string>
int main() {
    std::vector<std::string> v;
    std::cout << v.back() << "\n";
}
