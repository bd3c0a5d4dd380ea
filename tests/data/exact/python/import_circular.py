import x
