#include <iostream>
#include <string>

std::string extension(const std::string &file) {
    auto dot = file.rfind('.');
    return file.substr(dot);
}

int main() {
    std::cout << extension("notes.txt") << "\n";
    std::cout << extension("Makefile") << "\n";
}
