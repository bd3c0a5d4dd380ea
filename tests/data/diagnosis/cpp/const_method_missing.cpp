#include <iostream>
#include <string>

class Book {
    std::string title_;
public:
    explicit Book(std::string t) : title_(std::move(t)) {}
    std::string title() { return title_; }
};

void print(const Book &b) {
    std::cout << b.title() << "\n";
}

int main() {
    print(Book("Emma"));
}
