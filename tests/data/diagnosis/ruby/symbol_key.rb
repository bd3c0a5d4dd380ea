people = [{ 'name' => 'Ada' }, { 'name' => 'Bob' }]

def names(list)
  list.map { |p| p.fetch(:name) }
end

puts names(people).join(', ')
