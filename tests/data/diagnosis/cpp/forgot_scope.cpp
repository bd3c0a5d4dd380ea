#include <iostream>

class BankAccount {
public:
    void deposit(double amount);
    double total() const;
private:
    double balance = 0;
};

void deposit(double amount) {
    balance += amount;
}

double BankAccount::total() const { return balance; }

int main() {
    BankAccount b;
    b.deposit(10);
    std::cout << b.total() << "\n";
}
