from helpers import greet

greet("Ada")
