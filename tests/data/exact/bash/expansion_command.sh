echo $(echo a; echo b) "$(printf 'x\n\n')" `echo back`; cat <(echo proc) <(echo sub); x=$(false); echo $?; echo $(( $(echo 3) + 4 ))
