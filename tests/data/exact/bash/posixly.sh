echo $POSIXLY_CORRECT; set -o | grep posix
