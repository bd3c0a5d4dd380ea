class PaymentError < StandardError
end

def pay(amount)
  raise PaymentError, "no money: #{amount}"
end

pay(3)
