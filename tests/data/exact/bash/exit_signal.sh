kill -TERM $$; sleep 5
