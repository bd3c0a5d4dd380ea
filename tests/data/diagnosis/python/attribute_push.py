stack = [1, 2]
stack.push(3)
print(stack)
