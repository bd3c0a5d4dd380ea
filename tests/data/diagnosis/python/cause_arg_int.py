import argparse
p = argparse.ArgumentParser()
p.add_argument("--count", default=1)
a = p.parse_args(["--count", "3"])
for i in range(a.count): print(i)
