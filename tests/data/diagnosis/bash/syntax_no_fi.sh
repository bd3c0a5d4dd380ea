x=3

if [ "$x" = 3 ]; then
  echo three

echo done
