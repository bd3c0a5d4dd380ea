try:
    eval("1 +* 2")
except SyntaxError as e:
    print(e.msg, e.lineno, e.offset, e.text, e.end_lineno, e.end_offset, e.filename)
