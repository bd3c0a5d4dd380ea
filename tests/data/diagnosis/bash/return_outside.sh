set -e
echo start
return 3
