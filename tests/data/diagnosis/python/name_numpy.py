points = [1.0, 2.0, 3.0]
array = np.array(points)
print(array.mean())
