import pandas as pd

people = pd.DataFrame({"age": [15, 30, 61]})
adults = people[people["age"] > 17]
old = adults["age"] > 60
print(people[old])
