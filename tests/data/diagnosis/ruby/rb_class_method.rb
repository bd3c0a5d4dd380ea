class Order
  def initialize(items)
    @items = items
  end

  def total_price
    @items.sum { |i| i[:price] }
  end
end

order = Order.new([{ price: 3 }])
puts format('%.2f', order.total_prise)
