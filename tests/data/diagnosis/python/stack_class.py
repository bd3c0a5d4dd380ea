class Stack:
    """A last-in first-out stack."""

    def __init__(self):
        self._items = []

    def push(self, item):
        self._items.append(item)

    def pop(self):
        return self._items.pop()

    def is_empty(self):
        return not self._items


def balanced(text):
    stack = Stack()
    pairs = {")": "(", "]": "["}
    for ch in text:
        if ch in "([":
            stack.push(ch)
        elif ch in pairs:
            if stack.isempty() or stack.pop() != pairs[ch]:
                return False
    return stack.is_empty()


print(balanced("([])"))
print(balanced("([)]"))
