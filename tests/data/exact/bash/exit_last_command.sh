(exit 4)
