#include <iostream>
#include <stdexcept>
#include <string>

class InsufficientFunds : public std::runtime_error {
public:
    explicit InsufficientFunds(double missing)
        : std::runtime_error("missing " + std::to_string(missing)) {}
};

class Account {
    double balance_ = 0;
public:
    void deposit(double d) { balance_ += d; }
    void withdraw(double d) {
        if (d > balance_) throw InsufficientFunds(d - balance_);
        balance_ -= d;
    }
};

int main() {
    Account a;
    a.deposit(50);
    a.withdraw(80);
    std::cout << "ok\n";
}
