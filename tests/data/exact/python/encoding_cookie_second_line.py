# The cookie in the second line.
