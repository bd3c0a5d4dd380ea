#include <iostream>
#include <unordered_map>
#include <utility>

int main() {
    std::unordered_map<std::pair<int, int>, int> grid;
    grid[{0, 0}] = 1;
    grid[{1, 2}] = 7;
    for (const auto &cell : grid)
        std::cout << cell.first.first << ',' << cell.first.second << '=' << cell.second << '\n';
}
