#include <iostream>
#include <string>

std::string trim_suffix(const std::string &s, const std::string &suffix) {
    if (s.size() >= suffix.size() && s.compare(s.size() - suffix.size(), suffix.size(), suffix) == 0)
        return s - suffix;
    return s;
}

int main() {
    std::cout << trim_suffix("report.txt", ".txt") << std::endl;
}
