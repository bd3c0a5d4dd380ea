#include <iostream>
#include <set>

struct Seat {
    char row;
    int number;
};

int main() {
    std::set<Seat> taken;
    taken.insert({'B', 4});
    std::cout << taken.size() << "\n";
}
