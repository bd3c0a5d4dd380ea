import logging
logging.basicConfig(filename="app.log", level="INFO", format="%(message)s")
logging.info("to the file")
import atexit
atexit.register(lambda: print(open("app.log").read()))
