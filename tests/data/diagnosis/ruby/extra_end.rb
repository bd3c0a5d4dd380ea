def twice(n)
  n * 2
end
end
puts twice(2)
