class Greeter
  def hello
    "hi"
  end
end
puts Greeter.hello
