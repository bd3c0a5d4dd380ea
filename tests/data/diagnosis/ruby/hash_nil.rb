require 'json'

config = JSON.parse('{"server": {"host": "localhost"}}')

def database_url(config)
  config['database']['url']
end

puts database_url(config)
