#!/bin/zsh
ratio() {
    local a=$1 b=$2
    print $(( a / b ))
}
ratio 10 5
ratio 3 0
