age = 3
puts "age: " + age
