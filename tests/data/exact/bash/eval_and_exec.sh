eval 'x=1; echo $x'; eval 'echo ${'; echo $?; exec echo replaced
