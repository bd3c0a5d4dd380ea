#!/usr/bin/env bash
set -e

count_words() {
    tr ' ' '\n' | sort | uniq -c
}

echo "a b a" > input.txt
count_word < input.txt
