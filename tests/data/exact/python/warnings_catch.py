import warnings
with warnings.catch_warnings(record=True) as w:
    warnings.simplefilter("always")
    warnings.warn("caught", RuntimeWarning)
print(len(w), w[0].category, w[0].message, w[0].filename, w[0].lineno, warnings.filters)
