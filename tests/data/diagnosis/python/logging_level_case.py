import logging

logging.basicConfig(level="info")
