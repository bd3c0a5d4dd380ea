import time


def wait_for(flag):
    while not flag["ready"]:
        time.sleep(0.05)


def main():
    state = {"ready": False}
    print("waiting")
    wait_for(state)


main()
