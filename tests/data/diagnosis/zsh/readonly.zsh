set -e
typeset -r LIMIT=3
LIMIT=4
