let x=5/2 y=x*2; echo $x $y; let 0; echo $?; (( 3 > 2 )) && echo yes; [[ a -eq 0 ]] && echo zero
