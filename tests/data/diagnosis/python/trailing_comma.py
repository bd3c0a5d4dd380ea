import json

CONFIG = """{
  "name": "demo",
  "retries": 3,
}"""


def load(text):
    try:
        return json.loads(text)
    finally:
        print("read", len(text), "characters")


print(load(CONFIG))
