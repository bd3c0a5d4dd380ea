set -e

while read -r w; do print $w; done < word.txt
