text = File.read("data.txt")
puts text
