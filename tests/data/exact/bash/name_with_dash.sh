echo "$0" "$1"
