IFS=:; x=a:b::c; set -- $x; echo $# "$*" $*; IFS=$' \t\n'; y='  a  b '; echo $y "$y"; for w in $y; do echo "<$w>"; done
