set -e
readonly MAX=3

MAX=4
