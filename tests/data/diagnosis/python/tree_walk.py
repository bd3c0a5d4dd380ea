from pathlib import Path


def sizes(folder):
    result = {}
    for root, dirs, files in os.walk(folder):
        for name in files:
            path = Path(root) / name
            result[str(path)] = path.stat().st_size
    return result


def report(folder):
    found = sizes(folder)
    for name, size in sorted(found.items(), key=lambda kv: -kv[1])[:5]:
        print(f"{size:>8} {name}")


report(".")
