i = 0
while i < 3
  puts i
  i++
end
