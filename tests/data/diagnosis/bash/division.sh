set -e
total=10
parts=0

echo $((total / parts))
