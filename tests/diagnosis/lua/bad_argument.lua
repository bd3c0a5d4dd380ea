print(string.rep())
