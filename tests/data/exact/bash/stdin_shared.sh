head -n 1; read x; echo "x=$x"
