import gc
print(gc.isenabled(), gc.get_threshold(), gc.get_debug(), gc.garbage, gc.callbacks)
gc.disable()
print(gc.isenabled())
