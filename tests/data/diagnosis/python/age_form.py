def ask(prompt, convert=str):
    answer = input(prompt)
    return convert(answer)


def main():
    name = ask("Name? ")
    age = ask("Age? ", int)
    print(f"{name} will be {age + 1} next year")


if __name__ == "__main__":
    main()
