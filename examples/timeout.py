import itertools
import time

for second in itertools.count():
    print("still here after", second, "s", flush=True)
    time.sleep(1)
