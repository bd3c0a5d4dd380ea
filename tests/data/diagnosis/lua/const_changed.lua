local limit <const> = 5
limit = 6
