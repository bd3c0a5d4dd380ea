import logging
logging.getLogger("a").error("last resort")
logging.info("not shown")
