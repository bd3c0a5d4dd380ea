import time

pause = "0.05"
time.sleep(pause)
