import this
print(this.c)
