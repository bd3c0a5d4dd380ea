n = Integer("twelve")
puts n
