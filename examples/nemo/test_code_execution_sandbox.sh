#!/bin/bash
# Checks a sandbox with the interface of the NeMo Agent Toolkit: 13 programs, then malformed requests.
#
# Usage: test_code_execution_sandbox.sh [-u URL] [-t SECONDS] [-m] [-h]
#   -u, --url URL          the sandbox; http://127.0.0.1:6000/execute by default
#   -t, --timeout SECONDS  time limit of each program; 30 by default
#   -m, --malformed        only the malformed requests
#   -h, --help             this text
# The exit status is 0 if every check holds, else 1. Needs curl.
set -uo pipefail

url=http://${SANDBOX_HOST:-127.0.0.1}:${SANDBOX_PORT:-6000}/execute
timeout=30
programs=true
usage() { sed -n '2,/^set/{/^set/!s/^# \{0,1\}//p}' "$0"; }
refuse() {
    echo "test_code_execution_sandbox.sh: $1; -h lists the options" >&2
    exit 64
}
while [ $# -gt 0 ]; do
    case $1 in
    -u | --url)
        [ $# -ge 2 ] || refuse "$1 needs a URL"
        url=$2
        shift
        ;;
    -t | --timeout)
        [[ ${2:-} =~ ^[0-9]+(\.[0-9]+)?$ ]] || refuse "$1 needs a number of seconds, not '${2:-}'"
        timeout=$2
        shift
        ;;
    -m | --malformed) programs=false ;;
    -h | --help)
        usage
        exit 0
        ;;
    *) refuse "there is no option '$1'" ;;
    esac
    shift
done

passed=0 failed=0
answer='' status=''
# send CONTENT_TYPE BODY: sets answer and status.
send() {
    answer=$(curl --silent --show-error --max-time 120 --request POST --header "Content-Type: $1" --data-binary "$2" \
        --write-out '\n%{http_code}' "$url" 2>&1)
    status=${answer##*$'\n'}
    answer=${answer%$'\n'*}
}
# check NAME WANTED...: each text is part of the answer.
check() {
    local name=$1 text
    shift
    for text in "$@"; do
        if [[ $answer != *"$text"* ]]; then
            echo "FAIL  $name: '$text' is not in: $status $answer"
            failed=$((failed + 1))
            return
        fi
    done
    echo "ok    $name"
    passed=$((passed + 1))
}
# program NAME CODE WANTED...: the code is the inside of a JSON string.
program() {
    local name=$1 code=$2
    shift 2
    send application/json "{\"generated_code\": \"$code\", \"timeout\": $timeout, \"language\": \"python\"}"
    check "$name" "$@"
}
# refused NAME CONTENT_TYPE BODY WANTED
refused() {
    send "$2" "$3"
    if [ "$status" != 400 ]; then
        echo "FAIL  $1: the status is $status, not 400: $answer"
        failed=$((failed + 1))
        return
    fi
    check "$1" '"process_status":"error"' "$4"
}
done_ok='"process_status":"completed"' error='"process_status":"error"'

if ! curl --silent --output /dev/null --max-time 10 "${url%/execute}/"; then
    echo "test_code_execution_sandbox.sh: no sandbox answers at $url: start_local_sandbox.sh starts one" >&2
    exit 1
fi
if $programs; then
    program 'print' 'print(\"Hello, World!\")' "$done_ok" '"stdout":"Hello, World!\n"'
    program 'arithmetic' 'print(sum(range(101)))' "$done_ok" '"stdout":"5050\n"'
    program 'strings' 'print(\"sandbox\".upper()[::-1])' "$done_ok" 'XOBDNAS'
    program 'numpy, or its absence' 'try:\n    import numpy\n    print(numpy.arange(3).sum())\nexcept ImportError:\n    print(3)' \
        "$done_ok" '"stdout":"3\n"'
    program 'pandas, or its absence' \
        'try:\n    import pandas\n    print(len(pandas.DataFrame({\"a\": [1, 2]})))\nexcept ImportError:\n    print(2)' \
        "$done_ok" '"stdout":"2\n"'
    program 'syntax error' 'print(\"open' "$error" 'Traceback (most recent call last):' 'SyntaxError'
    program 'exception' 'print(1)\n1 / 0' "$error" '"stdout":"1\n"' 'ZeroDivisionError'
    program 'import error' 'import no_such_module_here' "$error" 'ModuleNotFoundError'
    program 'both streams' 'import sys\nprint(\"out\")\nprint(\"err\", file=sys.stderr)' "$done_ok" '"stdout":"out\n"' \
        '"stderr":"err\n"'
    program 'a second of work' 'import time\ntime.sleep(1)\nprint(\"done\")' "$done_ok" 'done'
    program 'a file' 'open(\"sandbox_test.txt\", \"w\").write(\"kept\")\nprint(open(\"sandbox_test.txt\").read())' \
        "$done_ok" 'kept'
    program 'a dictionary' "{'generated_code': 'print(1 + 1)'}" "$done_ok" '"stdout":"2\n"'
    program 'Markdown' '```python\nprint(2 + 2)\n```' "$done_ok" '"stdout":"4\n"'
fi
refused 'no JSON' application/json '{"generated_code": ' 'Invalid JSON data'
refused 'no content type of JSON' text/plain 'print(1)' 'Request must be JSON'
refused 'no code' application/json '{"timeout": 5, "language": "python"}' 'Missing required field: generated_code'
refused 'no timeout' application/json '{"generated_code": "print(1)", "language": "python"}' \
    'Missing required field: timeout'
refused 'an unknown language' application/json '{"generated_code": "x", "timeout": 5, "language": "cobol-74"}' \
    'Only python execution is supported'
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
