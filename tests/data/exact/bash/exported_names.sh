export -p; declare -p | grep -c . > /dev/null; compgen -v | grep -E '^BASH' | sort
