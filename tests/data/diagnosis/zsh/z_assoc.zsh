#!/bin/zsh
typeset -A price
price=(tea 3 cake 5)

show() {
    for k v in ${(kv)price}; do
        print "$k: $v"
    done

show
