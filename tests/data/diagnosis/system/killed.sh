sleep 30 &
kill -9 $$
