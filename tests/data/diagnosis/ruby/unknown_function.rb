total = 5
show_total(total)
