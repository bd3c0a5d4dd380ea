local function read_all(path)
  local f = io.open(path, "r")
  local text = f:read("a")
  f:close()
  return text
end

print(#read_all("scores.txt"))
