e = ValueError("with notes")
e.add_note("first note")
e.add_note("second\nnote of two lines")
raise e
