set -e
$name=Ada
echo hello
