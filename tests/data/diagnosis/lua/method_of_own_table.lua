local Cart = {}
function Cart.new()
  return { items = {} }
end
local cart = Cart.new()
cart:total()
