import argparse
p = argparse.ArgumentParser()
p.add_argument("price")
a = p.parse_args(["3.5"])
print(a.price * 1.2)
