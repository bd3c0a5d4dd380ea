import gc
seen = []
gc.callbacks.append(lambda phase, info: seen.append(phase))
gc.collect()
print(seen)
gc.callbacks.clear()
