from pathlib import Path


def install(name, text):
    target = Path("/etc") / name
    target.write_text(text)
    return target


print(install("myapp.conf", "debug = 1\n"))
