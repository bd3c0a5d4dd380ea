rate = 0.2

def with_tax(amount)
  amount * (1 + rate)
end

puts with_tax(100)
