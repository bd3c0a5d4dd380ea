from multiprocessing import Pool
def square(x): return x * x
def bad(x): raise ValueError(x)
if __name__ == "__main__":
    with Pool(2) as p:
        print(p.map(square, range(6)))
        try:
            p.apply(bad, (1,))
        except ValueError as e:
            print("raised", e)
