printf 'a\nb\n' > list.txt
gerp a list.txt
