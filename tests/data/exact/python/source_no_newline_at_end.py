# No newline at the end.
