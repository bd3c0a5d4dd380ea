class Parser
  def initialize(text)
    @text = text
  end

  def pairs
    @text.split(';').map do |part|
      key, value = part.split('=')
      [key.strip, value.strip]
    end
  end
end
