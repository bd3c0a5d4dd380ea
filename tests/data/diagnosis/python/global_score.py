score = 0
lives = 3


def hit(points):
    score = score + points
    if score > 10:
        print("bonus")
    return score


hit(5)
print(score)
