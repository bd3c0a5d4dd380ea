import json

RESPONSES = {
    "/ok": '{"status": "ok"}',
    "/gone": "<!DOCTYPE html><html><body>404 Not Found</body></html>",
}


class Client:
    def get(self, path):
        return json.loads(RESPONSES[path])


client = Client()
print(client.get("/ok")["status"])
print(client.get("/gone")["status"])
