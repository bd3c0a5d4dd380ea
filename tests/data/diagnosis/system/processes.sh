set -e
for i in $(seq 40); do
  sleep 5 &
done
wait
exit 1
