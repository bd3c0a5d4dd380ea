records = [{ name: 'Ada' }, { name: 'Bob' }]

def find(records, key)
  records['name']
end

puts find(records, 'Ada')
