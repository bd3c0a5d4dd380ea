import argparse
import json


def main():
    parser = argparse.ArgumentParser(description="Summarise a file")
    parser.add_argument("path")
    parser.add_argument("--limit", type=int, default=10)
    args = parser.parse_args()
    with open(args.path) as handle:
        print(json.dumps(handle.readlines()[: args.limit]))


main()
