x=5
if [ $x > 3 ] then
  echo big
fi
