# frozen_string_literal: true

word = "hello"
word << " world"
puts word
