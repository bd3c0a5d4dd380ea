import typing
print(typing.x)
