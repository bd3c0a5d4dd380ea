class Account {
  constructor(private balance: number) {}

  deposit(n: number): void {
    this.balance += n;
  }
}

const acc = new Account(10);
acc.deposit(5);
console.log(acc.balance);
