data = open("/home/ada/Documents/report.txt").read()
print(data)
