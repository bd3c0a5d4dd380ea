#include <iostream>
#include <map>
#include <string>

struct Item {
    int price;
};

int main() {
    std::map<std::string, Item *> items;
    Item *volatile pen = items["pen"];
    std::cout << pen->price << "\n";
}
