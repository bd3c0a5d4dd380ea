set -u; echo start; echo $nothing; echo never
