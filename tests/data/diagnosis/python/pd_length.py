import pandas as pd

frame = pd.DataFrame({"day": ["mon", "tue", "wed"]})


def add_column(df, name, values):
    df[name] = values
    return df


print(add_column(frame, "sales", [10, 12]))
