def grade(score):
    if score >= 90:
        return "A"
    elif score >= 80
        return "B"
    elif score >= 70:
        return "C"
    else:
        return "F"


for s in (95, 85, 72, 10):
    print(s, grade(s))
