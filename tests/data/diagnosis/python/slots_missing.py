class Node:
    __slots__ = ("value", "next")

    def __init__(self, value):
        self.value = value
        self.prev = None


Node(3)
