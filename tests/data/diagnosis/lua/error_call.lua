local function check(age)
  if age < 0 then
    error("age is negative: " .. age)
  end
end

check(-3)
