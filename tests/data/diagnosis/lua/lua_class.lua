local Stack = {}
Stack.__index = Stack

function Stack.new()
  return setmetatable({}, Stack)
end

function Stack:push(v)
  table.insert(self.items, v) 
end

function Stack:size()
  return #self.items
end

local s = Stack.new()
print(s:size())
