#!/bin/bash
for name in ada bob cy; do
    if [ "$name" = bob ]; then
        echo "skip"
        continue
    fi
    echo "hello $name"

echo "finished"
