weight=2.5
total=$((weight * 4))
echo "$total"
exit 1
