ages = { ann: 3 }
ages.push(bob: 4)
