#!/bin/bash
# Starts Belljar where clients of the NeMo Agent Toolkit expect its local sandbox.
#
# Usage: start_local_sandbox.sh [NAME] [OUTPUT_DATA_PATH]
#   NAME              names the directory of the service's state; local-sandbox by default
#   OUTPUT_DATA_PATH  the directory of /execute; $OUTPUT_DATA_PATH, or else ./output_data, by default
# Environment: SANDBOX_HOST (127.0.0.1), SANDBOX_PORT (6000), DEBUG, BELLJAR (the program),
# BELLJAR_STATE (the state of the service). Ctrl-C ends it.
set -euo pipefail

case ${1:-} in
-h | --help)
    sed -n '2,/^set/{/^set/!s/^# \{0,1\}//p}' "$0"
    exit 0
    ;;
esac

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
name=${1:-local-sandbox}
output=${2:-${OUTPUT_DATA_PATH:-$PWD/output_data}}
host=${SANDBOX_HOST:-127.0.0.1}
port=${SANDBOX_PORT:-6000}
belljar=${BELLJAR:-$here/../../build/belljar}
[ -x "$belljar" ] || belljar=$(command -v belljar) || {
    echo "start_local_sandbox.sh: there is no belljar: 'make build' makes it, or set \$BELLJAR" >&2
    exit 1
}
if [[ ! $name =~ ^[A-Za-z0-9][A-Za-z0-9._-]*$ ]]; then
    echo "start_local_sandbox.sh: '$name' is not a name: letters, digits, '.', '_' and '-' are accepted" >&2
    exit 1
fi
state=${BELLJAR_STATE:-${XDG_STATE_HOME:-$HOME/.local/state}/belljar-$name}

echo "Starting sandbox $name at http://$host:$port/execute, files in $output"
export OUTPUT_DATA_PATH=$output
exec "$belljar" serve --state "$state" --listen "$host:$port"
