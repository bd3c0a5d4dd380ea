import sys
from collections import counter, defaultdict


def words(text):
    groups = defaultdict(list)
    for word in text.split():
        groups[word[0]].append(word)
    return groups, counter(text.split())


print(words("to be or not to be"))
sys.exit(0)
