#!/bin/bash
fruits=(apple pear plum

for f in "${fruits[@]}"; do
    echo "$f"
done
