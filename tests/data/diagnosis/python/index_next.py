heights = [3, 1, 4]


for i in range(len(heights)):
    if heights[i] < heights[i + 1]:
        print("up")
