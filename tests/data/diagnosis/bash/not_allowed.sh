set -e
echo one
date
