exit 7
