set -euo pipefail
name=$1
echo "hello $name"
