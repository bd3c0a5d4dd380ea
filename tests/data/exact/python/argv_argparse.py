import argparse
p = argparse.ArgumentParser(description="d")
p.add_argument("--n", type=int)
p.add_argument("name")
print(p.parse_args(), p.prog)
p.print_help()
