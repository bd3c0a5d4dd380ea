#!/bin/bash
ages=("31" "forty" "22")
adults=0

for age in "${ages[@]}"; do
    if [ "$age" -ge 18 ]; then
        adults=$((adults + 1))
    fi
done

echo "$adults adults"
[ "$adults" -eq "${#ages[@]}" ] || exit 1
