local counts = {}
for _, w in ipairs({ "a", "b" }) do counts[w] = counts[w] + 1 end
