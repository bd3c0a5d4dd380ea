word = "hello"
puts word.upcas
