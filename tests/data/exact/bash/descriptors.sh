ls -1 /proc/self/fd | wc -l; for f in /proc/self/fd/*; do echo "${f##*/}"; done; exec 7< /dev/null; ls /proc/self/fd | tr '\n' ' '
