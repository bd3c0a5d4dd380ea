from concurrent.futures import ProcessPoolExecutor
def cube(x): return x ** 3
if __name__ == "__main__":
    with ProcessPoolExecutor(2) as p:
        print(list(p.map(cube, range(5))))
