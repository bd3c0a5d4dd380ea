require 'net/http'
require 'uri'

def fetch(url)
  Net::HTTP.get(URI(url))
end

puts fetch('http://example.org/index.html').length
