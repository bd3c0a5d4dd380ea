settings = { colour: "red", size: 3 }
puts settings.fetch(:sizes)
