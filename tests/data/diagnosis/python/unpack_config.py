def parse_env(lines):
    env = {}
    for line in lines:
        key, value = line.split("=")
        env[key.strip()] = value.strip()
    return env


SETTINGS = ["HOST=localhost", "DSN=postgres://u:p@db/x?sslmode=off", "DEBUG=1"]
print(parse_env(SETTINGS))
