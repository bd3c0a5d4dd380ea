class Box
  attr_reader :size

  def initialize
    @size = 1
  end
end
Box.new.size = 5
