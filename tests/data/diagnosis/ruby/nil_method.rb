def find(users, name)
  users.find { |u| u[:name] == name }
end

users = [{ name: "ann" }]
puts find(users, "bob").fetch(:name)
