local function sign(n)
  if n < 0 then
    return -1
end

print(sign(3))
