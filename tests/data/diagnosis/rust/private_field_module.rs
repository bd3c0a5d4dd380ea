mod bank {
    pub struct Account {
        balance: f64,
    }

    impl Account {
        pub fn new() -> Self {
            Account { balance: 0.0 }
        }
        pub fn deposit(&mut self, amount: f64) {
            self.balance += amount;
        }
    }
}

fn main() {
    let mut a = bank::Account::new();
    a.deposit(10.0);
    println!("{}", a.balance);
}
