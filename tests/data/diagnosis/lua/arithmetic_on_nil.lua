local counts = {}
for _, word in ipairs({ "a", "b" }) do
  local count = counts[word]
  counts[word] = count + 1
end
