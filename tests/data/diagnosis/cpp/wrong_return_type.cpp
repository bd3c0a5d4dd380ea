#include <iostream>
#include <map>
#include <string>
#include <vector>

std::vector<std::string> keys(const std::map<std::string, int> &m) {
    std::vector<std::string> out;
    for (const auto &kv : m)
        out.push_back(kv);
    return out;
}

int main() {
    std::cout << keys({{"a", 1}}).size() << "\n";
}
