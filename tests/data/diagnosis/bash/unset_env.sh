#!/bin/bash
set -u

log() { printf '%s\n' "$*"; }

main() {
    log "starting"
    log "using $API_URL"
}

main "$@"
