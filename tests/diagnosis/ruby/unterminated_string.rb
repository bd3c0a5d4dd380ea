puts "hello
puts "world"
