#include <iostream>
#include <map>
#include <string>

int main() {
    std::map<std::string, int> ages{{"ann", 3}};
    std::cout << ages.at("bob") << "\n";
}
