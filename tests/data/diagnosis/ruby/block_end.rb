def total(items)
  sum = 0
  items.each do |item|
    sum += item[:price]
  sum
end

puts total([{ price: 3 }, { price: 4 }])
