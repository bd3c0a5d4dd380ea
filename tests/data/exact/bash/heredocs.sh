x=1; cat <<A
x=$x $(echo cmd) \$x
A
cat <<'B'
x=$x
B
cat <<-C
	tabbed
	C
cat <<< "here $x"; while read l; do echo "[$l]"; done <<< $'a\nb'
