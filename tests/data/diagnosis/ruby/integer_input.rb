def read_number
  line = gets
  Integer(line)
end

n = read_number
n.times { |i| puts i }
