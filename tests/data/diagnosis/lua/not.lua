local ok = false
if !ok then print("a") end
