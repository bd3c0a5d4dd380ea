#!/usr/bin/env bash
set -euo pipefail

usage() { echo "usage: $0 NAME COUNT"; }

main() {
    local name=$1
    local count=$2
    for ((i = 0; i < count; i++)); do
        echo "$name"
    done
}

main ada
