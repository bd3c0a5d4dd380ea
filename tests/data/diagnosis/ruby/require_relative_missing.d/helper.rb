def double(n)
  n * 2
end
