#!/bin/zsh
print_report() {
    print "total: $1"
}

total=0
for n in 1 2 3; do
    (( total += n ))
done
print_reprot $total
