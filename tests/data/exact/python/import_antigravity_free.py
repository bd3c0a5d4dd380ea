import __future__, keyword, token, symtable
print(sorted(__future__.all_feature_names), len(keyword.kwlist))
