answers = ["12", "twelve"]
for answer in answers:
    print(int(answer))
