read -r a b; echo "[$a][$b]"; while IFS= read -r line; do echo "<$line>"; done; echo "left: $line"
