people = [{"name": "Ada", "langs": ["Analytical"]}]

for p in people:
    print(f"{p['name']} knows {', '.join(p['langs'])}")
    print('It's nice to meet you, ' + p["name"])
