a=$RANDOM b=$RANDOM; [[ $a =~ ^[0-9]+$ && $SRANDOM =~ ^[0-9]+$ ]] && echo fine; RANDOM=42; echo $RANDOM $RANDOM $RANDOM
