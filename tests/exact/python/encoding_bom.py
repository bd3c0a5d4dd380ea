# A byte order mark.
