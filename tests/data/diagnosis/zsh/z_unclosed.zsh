#!/bin/zsh
typeset -A ages
ages=(ada 36 bob 41)

for name age in ${(kv)ages}; do
    if (( age > 40 )); then
        print "$name is over 40"
    
done
