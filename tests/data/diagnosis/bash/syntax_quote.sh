name=Ada
echo "hello $name
echo done
