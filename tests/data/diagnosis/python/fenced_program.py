```python
import random

def roll(n=2):
    return [random.randint(1, 6) for _ in range(n)]

print(sum(roll()))
```
