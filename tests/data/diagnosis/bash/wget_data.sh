#!/bin/bash
set -e
url="https://example.org/data.csv"

fetch() {
    wgett -q "$1" -O data.csv
}

fetch "$url"
wc -l data.csv
