def add(a, b)
  a + b
end

puts add(1)
