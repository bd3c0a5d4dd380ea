def tally(words)
  counts = Hash.new(0)
  words.each { |w| cuonts[w] += 1 }
  counts
end
