import itertools
import time

for second in itertools.count(step=10):
    print("still here after", second, "s", flush=True)
    time.sleep(10)
