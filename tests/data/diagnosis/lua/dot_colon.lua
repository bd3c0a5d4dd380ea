local Account = {}
Account.__index = Account

function Account.new(balance)
  return setmetatable({ balance = balance }, Account)
end

function Account:deposit(n)
  self.balance = self.balance + n
end

local a = Account.new(10)
a.deposit(5)
print(a.balance)
