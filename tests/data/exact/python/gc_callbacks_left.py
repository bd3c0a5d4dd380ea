import gc, os
gc.callbacks.append(lambda phase, info: os.write(1, phase.encode() + b"\n"))
