x = 41
breakpoint()
print("continued")
