#!/bin/zsh
setopt err_exit
count() {
    local n=0
    while read -r line; do
        (( n += 1 ))
    done < $1
    print $n
}
count list.txt
