def read_numbers(n):
    numbers = []
    for i in range(n):
        numbers.append(input(f"number {i + 1}: "))
    return numbers


def main():
    numbers = read_numbers(2)
    total = sum(numbers)
    print("average:", total / len(numbers))


main()
