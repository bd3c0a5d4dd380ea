from pathlib import Path

Path("names.txt").write_bytes("José\nZoë\n".encode("cp1252"))


def read_names(path):
    with open(path) as handle:
        return [line.strip() for line in handle]


print(read_names("names.txt"))
