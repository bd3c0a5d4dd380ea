class Room
  def initialize(seats)
    @seats = seats
  end

  def seats
    seats
  end
end

puts Room.new(4).seats
