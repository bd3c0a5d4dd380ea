import argparse
p = argparse.ArgumentParser()
p.add_argument("--n", default=1)
a = p.parse_args([])
print(a["n"])
