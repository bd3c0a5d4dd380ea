require_relative "counter"

puts tally(%w[a b a])
