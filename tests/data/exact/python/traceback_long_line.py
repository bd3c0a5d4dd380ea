x = {"a": {"b": {"c": None}}}
def call(*args): return args
call(1, 2, 3, "a string that is quite long", x["a"]["b"]["c"]["d"], "another string that makes the line long")
