#include <iostream>
#include <string>
#include <vector>

void add_all(const std::vector<std::string> &names, const std::string &more) {
    names.push_back(more);
}

int main() {
    std::vector<std::string> names;
    add_all(names, "Ann");
    std::cout << names.size() << "\n";
}
