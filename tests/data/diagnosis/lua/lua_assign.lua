local function parity(n)
  if n % 2 = 0 then
    return "even"
  else
    return "odd"
  end
end

print(parity(4))
