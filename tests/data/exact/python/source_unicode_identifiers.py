ñ, 変数, ℌ = 1, 2, 3
print(ñ + 変数, sorted(k for k in globals() if not k.startswith("_")))
