case "$1" in
  up)
    echo up
    if true; then echo yes; fi
  down)
    echo down
    ;;
esac
