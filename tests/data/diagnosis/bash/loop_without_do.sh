for name in a b c
  echo "$name"
done
