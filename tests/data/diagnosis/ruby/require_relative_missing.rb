require_relative "helpr"

puts double(3)
