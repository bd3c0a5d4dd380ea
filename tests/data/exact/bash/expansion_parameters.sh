x=hello.tar.gz; echo ${x%.*} ${x%%.*} ${x#*.} ${x##*.} ${x/l/L} ${x//l/L} ${x:1:3} ${x: -2} ${#x} ${y:-def} ${y:=set} $y ${x^} ${x@Q} ${!x*}; v=x; echo ${!v}; echo "${x@A}" "${z+set}"
