import json
import sys


def main():
    request = json.load(sys.stdin)
    print(request["action"])


main()
