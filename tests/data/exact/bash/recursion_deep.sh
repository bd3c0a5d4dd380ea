f() { (( $1 == 0 )) || f $(( $1 - 1 )); }; f 500; echo done; FUNCNEST=50; g() { g; }; g; echo $?
