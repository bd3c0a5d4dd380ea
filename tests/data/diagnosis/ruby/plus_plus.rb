n = 0
n++
puts n
