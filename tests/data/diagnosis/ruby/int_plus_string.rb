total = 1
total += "2"
puts total
