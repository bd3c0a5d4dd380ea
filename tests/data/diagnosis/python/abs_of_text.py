print(abs('x'))
