class Account {
  constructor(owner) {
    this.owner = owner;
    this.balance = 0;
  }
  deposit(n) {
    this.balance += n;
  }
}
const acc = new Account("Z");
acc.deposit(10);
console.log(acc.balance());
