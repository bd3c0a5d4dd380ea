local n = 3
if n != 2 then print("no") end
