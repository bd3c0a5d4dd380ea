set -e
print -l b a | srot
