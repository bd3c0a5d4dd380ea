declare -A m; for i in {1..20}; do m[key$i]=$i; done; echo "${!m[@]}"; echo "${m[@]}"
