def a
  if true
    puts 1
end

def b
  puts 2
end
b
