set -e
mkdir build/reports/html
