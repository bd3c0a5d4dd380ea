h = { a: 1 }
h.each { |k, v| h["#{k}x"] = v }
