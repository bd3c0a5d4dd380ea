import warnings
def f():
    warnings.warn("a warning")
f(); f()
warnings.warn("old", DeprecationWarning)
warnings.warn("pending", PendingDeprecationWarning)
warnings.warn("levels", UserWarning, stacklevel=2)
