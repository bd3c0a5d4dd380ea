set -e
rm *.tmp
