class User
  def initialize(name)
    @name = name
  end
end
puts User.new("ann").name
