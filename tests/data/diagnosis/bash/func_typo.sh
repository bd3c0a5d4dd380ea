#!/bin/bash

total=0
for f in a b c; do
    size=$(echo "$f" | wc -c
    total=$((total + size))
done
echo "$total"
