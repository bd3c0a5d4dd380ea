for i in 1 2 3; do echo out $i; echo err $i >&2; done; printf '%s' 'no newline'
