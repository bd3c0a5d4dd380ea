echo "$0" "$(dirname "$0")" "${BASH_SOURCE[0]}"; nosuch
