Point = Struct.new(:x, :y) do
  def distance(other)
    Math.sqrt((x - other.x)**2 + (y - other.y)**2)
  end
end

points = [Point.new(0, 0), Point.new(3, 4, 5)]
puts points[0].distance(points[1])
