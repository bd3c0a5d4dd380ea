local function share(total, people)
  return total // people
end
print(share(10, 0))
