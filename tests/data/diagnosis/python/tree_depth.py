class Node:
    def __init__(self, name):
        self.name = name
        self.children = []

    def depth(self):
        return 1 + max((child.depth() for child in self.children), default=0)


root = Node("root")
child = Node("child")
root.children.append(child)
child.children.append(root)
print(root.depth())
