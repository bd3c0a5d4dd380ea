local config = {
  name = "demo",
  sizes = { 1, 2, 3,
}

local function show(c)
  print(c.name)
end

show(config)
