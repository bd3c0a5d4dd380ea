#!/bin/bash
set -e
cat > task.sh <<'END'
echo "task runs"
END
./task.sh
echo "after"
