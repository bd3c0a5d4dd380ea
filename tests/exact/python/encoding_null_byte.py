# A zero byte.
