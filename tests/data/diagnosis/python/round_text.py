print(round('3.7'))
