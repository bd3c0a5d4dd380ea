require 'csv'

DATA_TEXT = "name,age\nAda,36\nBob,\n"

def ages(text)
  CSV.parse(text, headers: true).map { |row| row['age'].to_i + row['years'].length }
end

puts ages(DATA_TEXT).sum
