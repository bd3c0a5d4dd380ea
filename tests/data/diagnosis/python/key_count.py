counts = {}
for letter in "hello":
    counts[letter] += 1
print(counts)
