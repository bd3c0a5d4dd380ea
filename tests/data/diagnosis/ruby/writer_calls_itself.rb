class Room
  def seats
    @seats
  end

  def seats=(number)
    self.seats = number.to_i
  end
end

room = Room.new
room.seats = "12"
puts room.seats
