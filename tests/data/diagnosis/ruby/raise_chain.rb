require 'json'

class ConfigError < StandardError; end

def load_config(text)
  JSON.parse(text)
rescue JSON::ParserError => e
  raise ConfigError, "bad config: #{e.message[0, 20]}"
end

load_config('{oops')
