total = 3
puts totl
