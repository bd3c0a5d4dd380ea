shopt; set -o; echo $SHELLOPTS $BASHOPTS
