count = 3
puts count.upcase
