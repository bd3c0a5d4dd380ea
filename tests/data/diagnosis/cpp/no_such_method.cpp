#include <iostream>
#include <vector>

int main() {
    std::vector<int> v;
    for (int i = 0; i < 3; i++)
        v.push(i);
    std::cout << v.size() << "\n";
}
