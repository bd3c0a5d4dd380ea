user = { name: "ann" }
puts user.name
