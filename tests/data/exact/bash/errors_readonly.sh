readonly r=1; r=2; echo after $r; unset r; declare -r s; local x
