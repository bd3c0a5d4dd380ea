from pandas import DataFrame

df = DataFrame([{"a": 1}])
print(df.ix[0])
