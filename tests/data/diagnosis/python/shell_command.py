pip install requests

print("ready")
