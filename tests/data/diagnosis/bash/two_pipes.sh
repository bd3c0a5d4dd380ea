echo a | | sort
