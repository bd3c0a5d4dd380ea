#!/bin/zsh
names=(carol ada bob)
total = $(( $#names * 2 ))
[[ $total -gt 0 ]] || exit 1
print $total
