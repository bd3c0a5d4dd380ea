local stock = {}
local kinds = { "tea", "salt" }
local kind = kinds[1]
stock[kind].count = 3
print(stock.tea.count)
