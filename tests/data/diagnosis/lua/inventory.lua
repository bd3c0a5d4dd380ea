local Inventory = {}
Inventory.__index = Inventory

function Inventory.new()
  return setmetatable({ items = {} }, Inventory)
end

function Inventory:addItem(name, n)
  self.items[name] = (self.items[name] or 0) + n
end

local inv = Inventory.new()
inv:addItem("pen", 3)
inv:additem("cup", 1)
print(inv.items.pen)
