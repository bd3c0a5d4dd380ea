from shop.cart import Cart


def main():
    cart = Cart()
    cart.add("tea", 3.5)
    print(cart.checkout())


main()
