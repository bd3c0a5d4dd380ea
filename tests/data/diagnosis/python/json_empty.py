import json


def parse(body):
    return json.loads(body)


print(parse(""))
