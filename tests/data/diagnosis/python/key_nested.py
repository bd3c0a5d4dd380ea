order = {"customer": {"name": "Ada", "address": {"city": "London"}}}
print(order["customer"]["name"])
print(order["customer"]["adress"]["city"])
