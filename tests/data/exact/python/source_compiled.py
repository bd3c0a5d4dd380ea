# Compiled code under the name of a program (of Python 3.11; another one says that it is not).
