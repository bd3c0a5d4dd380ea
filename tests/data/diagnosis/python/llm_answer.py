Sure! Here is a script that counts words:

```python
from collections import Counter

def count(text):
    return Counter(text.split()).most_common(3)

print(count("a b a"))
```

Let me know if you need anything else.
