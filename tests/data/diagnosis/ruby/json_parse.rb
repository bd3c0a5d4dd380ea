require "json"

puts JSON.parse("{bad")
