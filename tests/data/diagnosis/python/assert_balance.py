def transfer(accounts, src, dst, amount):
    accounts[src] -= amount
    accounts[dst] += amount
    assert all(v >= 0 for v in accounts.values()), f"overdrawn: {accounts}"


bank = {"a": 10, "b": 0}
transfer(bank, "a", "b", 5)
transfer(bank, "a", "b", 50)
