local M = {}
function M.double(n) return n * 2 end
return M
