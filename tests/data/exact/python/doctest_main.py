def f(x):
    """
    >>> f(2)
    4
    >>> f(3)
    10
    """
    return x * x
import doctest
print(doctest.testmod())
