names = ["a", "b"]
names.each |name|
  puts name
end
