echo "$MY-$EMPTY-${NOPE-unset}"; export NEW=1; env | grep -E '^(NEW|MY)=' | sort; bash -c 'echo $NEW'
