printf -v x '%03d' 7; echo $x; printf '%s-%s\n' a b c; printf '%(%Y)T\n' 0; printf '%b' 'a\nb\n'; printf '%d\n' 0x10 010 "'A"; printf '%d\n' abc; printf '%*d|\n' 5 3
