set -e

exec 3<>/dev/tcp/example.com/80
