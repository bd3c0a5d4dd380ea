set -euo pipefail; trap 'echo "line $LINENO: $BASH_COMMAND"' ERR; f() { grep nothing /dev/null; }; echo go; f | cat; echo never
