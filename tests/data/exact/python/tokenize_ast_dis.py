import ast, dis, io, tokenize
print(ast.dump(ast.parse("x = 1 + y")), ast.unparse(ast.parse("a if b else c")))
dis.dis(compile("x + 1", "<d>", "eval"))
print([t.string for t in tokenize.generate_tokens(io.StringIO("a+b").readline)])
