import json


def build(name, values):
    return {"name": name, "values": values, "count": len(values)}


def main():
    data = [build("a", [1, 2]), build("b", [])]
    print(json.dumps(data, indent=2)
    for entry in data:
        print(entry["name"])


main()
