import logging
logging.warning("root warning")
logging.basicConfig(level=logging.DEBUG, format="%(levelname)s:%(name)s:%(process)d:%(processName)s:%(threadName)s:%(message)s".replace("%(process)d:", ""))
log = logging.getLogger("x.y")
log.debug("debug %s", 1)
try:
    1 / 0
except ZeroDivisionError:
    log.exception("failed")
logging.captureWarnings(True)
import warnings
warnings.warn("captured")
