#!/bin/bash
set -euo pipefail

backup() {
    local source=$1
    local target="backup-$(date +%Y)"
    mkdir -p "$target"
    cat "$source/notes.txt" > "$target/notes.txt"
}

cd documents
backup .
echo "saved"
