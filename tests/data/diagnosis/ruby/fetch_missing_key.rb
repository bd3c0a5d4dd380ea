config = { host: "a" }
puts config.fetch(:port)
