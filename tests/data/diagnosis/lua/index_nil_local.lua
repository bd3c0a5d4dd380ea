local function find(id)
  return nil
end

local user = find(3)
print(user.name)
