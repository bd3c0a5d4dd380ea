class Book
  attr_reader :title, :year

  def initialize(title, year)
    @title = title
    @year = year
  end
end

class Library
  def initialize
    @books = []
  end

  def add(book)
    @books << book
    self
  end

  def titles
    @books.map { |b| b.titel }
  end
end

lib = Library.new.add(Book.new('Dune', 1965))
puts lib.titles
