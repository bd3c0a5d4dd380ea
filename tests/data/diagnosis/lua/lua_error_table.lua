local function check(value)
  if type(value) ~= "number" then
    error("expected a number, got " .. type(value), 2)
  end
  return value
end

local function area(w, h)
  return check(w) * check(h)
end

print(area(2, 3))
print(area(2, "x"))
