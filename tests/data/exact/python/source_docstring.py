"""The docstring."""
print(__doc__)
