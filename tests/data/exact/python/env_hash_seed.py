print(hash("abc"), set("hello"))
