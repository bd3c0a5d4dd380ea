from collections import Counter

votes = Counter(["a", "b", "a"])
winner, number = votes.most_common(1)
print(winner, number)
