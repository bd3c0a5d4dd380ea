locale 2>/dev/null; echo "${#x}"; x='üñí'; echo "${#x}" "${x^^}"; printf '%s\n' b A a B | sort; [[ ä > z ]]; echo $?
