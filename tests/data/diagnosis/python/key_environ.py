import os

token = os.environ["API_TOKEN"]
print(len(token))
