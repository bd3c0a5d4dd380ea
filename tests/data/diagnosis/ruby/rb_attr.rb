class Person
  attr_reader :name, :age

  def initialize(name, age)
    @name = name
    @age = age
  end
end

ada = Person.new('Ada', 36)
ada.age = 37
puts ada.age
