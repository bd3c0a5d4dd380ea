user = {"username": "ada", "age": 36}
print(user["usrname"])
