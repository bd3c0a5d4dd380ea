import sys, io
sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding="latin-1", write_through=False)
print("grüße")
