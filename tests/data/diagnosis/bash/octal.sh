set -e
month=08
echo $((month + 1))
