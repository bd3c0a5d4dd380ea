local xs = { 1, 2, 3 }
local s = 0
for i = 0, #xs do s = s + xs[i] end
