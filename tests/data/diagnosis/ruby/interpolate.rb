class Invoice
  def initialize(lines)
    @lines = lines
  end

  def total
    @lines.sum { |l| l[:amount] }
  end

  def to_s
    'Total: ' + total + ' EUR'
  end
end

puts Invoice.new([{ amount: 4 }, { amount: 6 }])
