class Cart:
    def __init__(self):
        self.items = ["tea"]


cart = Cart()
if "tea" in cart:
    print("yes")
