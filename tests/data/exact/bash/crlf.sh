echo carriage
x=1
echo $x
