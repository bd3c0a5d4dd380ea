cat; echo "status $?"
