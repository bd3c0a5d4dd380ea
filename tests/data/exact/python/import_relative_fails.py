from . import something
