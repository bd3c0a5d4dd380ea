set -e

cat name.txt
