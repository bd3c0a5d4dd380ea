import queue

jobs = queue.Queue()
jobs.append("a")
