echo "$0" "$#" "$@" "${@: -1}" "$*"; for a; do printf '<%s>' "$a"; done; echo; shift 2; echo "$1"
