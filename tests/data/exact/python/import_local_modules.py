import a, sys
print(a.b is sys.modules["b"], sys.modules["a"].__spec__.origin, a.__cached__)
