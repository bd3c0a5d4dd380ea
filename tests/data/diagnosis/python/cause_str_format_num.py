x = "3.14159"
print(f"{x:.2f}")
