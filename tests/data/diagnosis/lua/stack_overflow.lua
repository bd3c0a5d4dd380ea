local function fact(n)
  return n * fact(n - 1) + 0
end
print(fact(5))
