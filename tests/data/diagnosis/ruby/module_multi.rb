require_relative 'lib/parser'

puts Parser.new('a=1;b').pairs.inspect
