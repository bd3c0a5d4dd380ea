first = "2"
title = "catalogue"
print(title[:first])
