import json

order = json.loads('{"customer": null}')
print(order["customer"]["name"])
