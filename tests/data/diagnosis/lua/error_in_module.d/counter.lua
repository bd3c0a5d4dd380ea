local M = {}
function M.sum(values)
  local total = 0
  for _, v in ipairs(values) do total = total + v end
  return total
end
return M
