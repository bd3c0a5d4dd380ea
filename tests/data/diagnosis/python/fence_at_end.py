from collections import Counter


def top_words(text, n=3):
    counts = Counter(w.lower().strip(".,!?") for w in text.split())
    return counts.most_common(n)


if __name__ == "__main__":
    for word, count in top_words("the cat and the hat and the bat"):
        print(word, count)
```
