while true; do
  echo "again and again"
done
