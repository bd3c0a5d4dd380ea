#include <iostream>
#include <string>

int main() {
    std::cout << std::stoi("twelve") << "\n";
}
