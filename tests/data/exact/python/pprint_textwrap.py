import pprint, textwrap, string
pprint.pprint({"k" * 30: list(range(30)), "b": {"c": ["x" * 40] * 3}})
print(textwrap.fill("word " * 40, 30), string.Template("$a").substitute(a=1))
