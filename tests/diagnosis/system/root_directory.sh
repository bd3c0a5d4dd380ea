set -e
mkdir /data
