set -e
count = 3
echo "$count"
