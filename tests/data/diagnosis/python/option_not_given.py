import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--limit", type=int)
args = parser.parse_args([])
for i in range(args.limit + 1):
    print(i)
