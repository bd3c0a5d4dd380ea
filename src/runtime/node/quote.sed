# Turns a text into C strings, one for each line.
s/[\\"]/\\&/g
s/.*/"&\\n"/
