#include <iostream>

class Account {
    double balance = 10;
public:
    void deposit(double amount) { balance += amount; }
};

int main() {
    Account a;
    std::cout << a.balance << "\n";
}
