echo before
if [ 1 = 1 ]; then
  echo in
done
