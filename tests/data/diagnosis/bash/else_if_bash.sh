#!/bin/bash
size=$1
if [ "$size" -gt 100 ]; then
    echo large
else if [ "$size" -gt 10 ]; then
    echo medium
else
    echo small
fi
echo "end"
