data = '{"a": 1}'
puts JSON.parse(data)["a"]
