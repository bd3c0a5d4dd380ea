def fact(n)
  n * fact(n - 1)
end

puts fact(5)
