#!/bin/bash
set -e
readonly MAX=3
i=0
while [ "$i" -lt "$MAX" ]; do
    i=$((i + 1))
done
MAX=$((MAX + 1))
echo "$MAX"
