set -x; a=1; [ "$a" = 1 ] && echo "q $a"; PS4='+${LINENO}: '; for i in 1 2; do :; done; set +x; set -v; echo verbose
