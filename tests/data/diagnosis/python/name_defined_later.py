main()


def main():
    print("hello")
