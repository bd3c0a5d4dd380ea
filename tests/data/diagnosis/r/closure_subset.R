print(mean[1])
