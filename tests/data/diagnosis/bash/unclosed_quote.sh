#!/bin/bash
greet() {
    local name="$1
    echo "Hello, $name"
}

for n in ada bob; do
    greet "$n"
done
