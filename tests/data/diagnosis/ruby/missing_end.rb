def sign(n)
  if n < 0
    -1
  else
    1

puts sign(3)
