scores = [30, 10, 20]
ranked = scores.sort()
print("best:", ranked[0])
