local people = { { name = "Ada" }, { nam = "Bob" } }

local function greet(person)
  return "Hello, " .. person.name .. "!"
end

for _, p in ipairs(people) do
  print(greet(p))
end
