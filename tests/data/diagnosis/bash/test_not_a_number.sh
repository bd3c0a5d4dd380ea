set -e
size=large

[ "$size" -gt 3 ]
