"""never closed
a
b
