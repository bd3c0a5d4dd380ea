#include <iostream>
#include <vector>
int main() {
    std::vector<int> v;
    v[5] = 3;
    std::cout << v[5] << "\n";
}
