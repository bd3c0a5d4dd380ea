import time

print("waiting")
time.sleep(60)
