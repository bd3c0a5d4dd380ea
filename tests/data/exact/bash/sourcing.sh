. ./lib.sh arg; echo $libvar $?; source nofile; echo $?; echo "${BASH_SOURCE[@]}"; caller; bash lib.sh x
