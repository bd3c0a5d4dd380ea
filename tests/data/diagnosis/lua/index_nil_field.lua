local config = {}
print(config.window.width)
