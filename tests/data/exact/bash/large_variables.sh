x=$(head -c 100000 /dev/zero | tr '\0' x); echo ${#x}; y=$x$x; echo ${#y}; printf '%s' "$y" | wc -c
