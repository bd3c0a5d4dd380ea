begin
  Integer("x")
rescue ArgumentError
  raise "cannot load the settings"
end
