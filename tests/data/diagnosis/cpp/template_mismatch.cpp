#include <iostream>
#include <vector>

int main() {
    std::vector<std::string> names;
    names.push_back(3.5);
    std::cout << names.size() << "\n";
}
