echo $(( $(bash -c 'echo $PPID') == $$ )); (echo $(( BASHPID != $$ ))); exec -a name bash -c 'echo $0'
