exec 1>&-; echo lost; echo $? >&2; exec 2>&-; echo more >&2
