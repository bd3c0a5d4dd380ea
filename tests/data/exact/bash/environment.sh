env | sort; echo ---; set -o posix; set | grep -v -E '^(RANDOM|SRANDOM|EPOCH|SECONDS|BASHPID)' | sort
