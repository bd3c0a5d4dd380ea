#!/bin/bash
set -e
mean() {
    local sum=0 n
    for n in "$@"; do
        sum=$((sum + n))
    done
    echo $((sum / $#))
}

mean 1 2 3
mean
