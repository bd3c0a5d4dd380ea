import json


class ServiceError(Exception):
    """Something the caller should see."""


def parse(payload):
    try:
        return json.loads(payload)
    except json.JSONDecodeError as exc:
        raise ServiceError(f"bad payload: {payload!r}") from exc


def handle(requests):
    for request in requests:
        print(parse(request))


handle(['{"a": 1}', "{oops"])
