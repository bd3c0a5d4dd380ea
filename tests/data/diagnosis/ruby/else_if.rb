n = 4
if n > 5
  puts "big"
else if n > 3
  puts "middle"
end
