case $1 in
  a) echo a
  b) echo b ;;
esac
