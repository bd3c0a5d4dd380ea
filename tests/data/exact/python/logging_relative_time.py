import logging
r = logging.makeLogRecord({})
rec = logging.LogRecord("n", 10, "p", 1, "m", (), None)
print(0 <= rec.relativeCreated < 5000, rec.processName, rec.threadName, rec.process == __import__("os").getpid())
