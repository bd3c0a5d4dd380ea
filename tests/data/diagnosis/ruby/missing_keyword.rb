def box(size:)
  size
end

puts box()
