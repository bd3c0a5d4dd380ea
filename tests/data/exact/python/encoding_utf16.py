# UTF-16 with its mark.
