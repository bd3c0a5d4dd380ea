class User
  def name
    "ann"
  end
end

puts User.new.nam
