x=3
if [ "$x" = 3 ]
  echo three
fi
