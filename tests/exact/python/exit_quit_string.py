quit("bye")
