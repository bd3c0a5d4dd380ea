from concurrent.futures import ThreadPoolExecutor
import time
p = ThreadPoolExecutor(2)
p.submit(time.sleep, 0.05)
p.submit(print, "from the pool")
