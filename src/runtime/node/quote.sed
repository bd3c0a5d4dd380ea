# A text as a C string, a line a line.
s/[\\"]/\\&/g
s/.*/"&\\n"/
