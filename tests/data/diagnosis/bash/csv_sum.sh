#!/bin/bash
set -e

sum_column() {
    local file=$1 col=$2
    cut -d, -f"$col" "$file" | tail -n +2 | paste -sd+ - 
}

while IFS=, read -r day amount; do
    echo "$day: $amount"
done < sale.csv
sum_column sale.csv 2
