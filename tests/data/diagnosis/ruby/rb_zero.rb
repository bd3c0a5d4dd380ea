class Stats
  def initialize(values) = @values = values

  def mean
    @values.sum / @values.size
  end
end

puts Stats.new([1, 2, 3]).mean
puts Stats.new([]).mean
