import pandas as pd


def load(path):
    frame = pd.read_csv(path)
    return frame.dropna()


def main():
    train = load("data/train.csv")
    print(train.head())


main()
