"""Prints slugs."""
from textutil.slug import make_slug

TITLES = ["Hello World", "Cells & Jars"]

for title in TITLES:
    print(make_slug(title))
