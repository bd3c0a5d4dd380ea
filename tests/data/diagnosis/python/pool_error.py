from concurrent.futures import ThreadPoolExecutor


def convert(text):
    return int(text, 10)


def run(items):
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(convert, items))


print(run(["1", "2"]))
print(run(["3", "x9"]))
