LOG = """2024-01-01 INFO started
2024-01-01 ERROR disk full
malformed
2024-01-02 INFO stopped
"""


def levels(text):
    counts = {}
    for line in text.splitlines():
        level = line.split()[1]
        counts[level] = counts.get(level, 0) + 1
    return counts


print(levels(LOG))
