function withdraw(balance, amount) {
  if (amount > balance) {
    throw new Error("not enough: " + balance);
  }
  return balance - amount;
}

withdraw(10, 20);
