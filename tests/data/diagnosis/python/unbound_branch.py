def grade(points):
    if points > 50:
        result = "pass"
    return result


print(grade(10))
