import requests


def weather(city):
    response = requests.get(f"https://wttr.example.org/{city}", params={"format": "j1"}, timeout=2)
    response.raise_for_status()
    return response.json()


if __name__ == "__main__":
    for city in ("Oslo", "Rome"):
        print(city, weather(city))
