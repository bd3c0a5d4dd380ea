trap 'echo got INT' INT; trap 'echo got USR1' USR1; kill -INT $$; kill -USR1 $$; trap '' TERM; kill -TERM $$; trap; sleep 5 & kill %1; wait $!; echo $?
