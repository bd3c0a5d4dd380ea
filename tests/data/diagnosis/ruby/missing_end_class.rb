class A
  def go
    puts 1
  end

A.new.go
