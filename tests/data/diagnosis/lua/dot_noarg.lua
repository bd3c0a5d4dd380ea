local A = {}
A.__index = A
function A.new() return setmetatable({ n = 1 }, A) end
function A:show() print(self.n) end
local a = A.new()
a.show()
