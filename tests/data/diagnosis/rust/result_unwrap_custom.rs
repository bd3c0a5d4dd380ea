#[derive(Debug)]
enum BankError {
    Insufficient { missing: u64 },
}

struct Account { balance: u64 }

impl Account {
    fn withdraw(&mut self, n: u64) -> Result<u64, BankError> {
        if n > self.balance {
            return Err(BankError::Insufficient { missing: n - self.balance });
        }
        self.balance -= n;
        Ok(self.balance)
    }
}

fn main() {
    let mut a = Account { balance: 50 };
    a.withdraw(20).unwrap();
    a.withdraw(70).unwrap();
}
