x = 1
breakpoint()
print("never")
