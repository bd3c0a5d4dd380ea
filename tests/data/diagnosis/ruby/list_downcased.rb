words = ["A", "B"]
puts words.downcase
