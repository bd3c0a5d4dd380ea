import argparse
p = argparse.ArgumentParser()
p.add_argument("--n", type=int)
p.parse_args()
