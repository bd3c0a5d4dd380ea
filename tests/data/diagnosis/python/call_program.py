import subprocess


def build(tag):
    result = subprocess.run(["heroku", "container:push", tag], check=True, capture_output=True, text=True)
    return result.stdout


print(build("demo:latest"))
