require 'yaml'

class Settings
  def self.load(path)
    new(YAML.load_file(path))
  end

  def initialize(data)
    @data = data
  end
end

Settings.load('settings.yml')
