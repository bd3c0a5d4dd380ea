local total=5; exit 1
