function greet(name)
  return "hello " .. name
end

print(greeet("ann"))
