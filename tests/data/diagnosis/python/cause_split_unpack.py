key, value = "a=b=c".split("=")
