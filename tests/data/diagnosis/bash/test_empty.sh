set -e
answer=
[ $answer = yes ] && echo ok
