read x; echo "$? [$x]"; cat | wc -c; mapfile -t a; echo ${#a[@]}; [ -t 0 ]; echo $?; [ -t 1 ]; echo $?
