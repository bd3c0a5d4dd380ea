read -n 3 x; echo "$x"; read -d : y; echo "$y"; read -a arr; echo "${arr[1]}"; read -t 1 -p prompt z; echo "$z"; readarray -n 1 m; echo "${m[0]}"
