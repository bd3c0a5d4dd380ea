#!/bin/bash
limit=10
count=12

check() {
    if [$count -gt $limit]; then
        echo "too many"
        return 1
    fi
}

check
status=$?
exit $((status == 0 ? 3 : status))
