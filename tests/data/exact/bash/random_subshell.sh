RANDOM=7; echo $RANDOM; x=$(echo $RANDOM); [[ $x =~ ^[0-9]+$ ]] && echo number; echo $RANDOM
