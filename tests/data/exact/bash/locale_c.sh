x='üñí'; echo "${#x}"; printf '%d\n' "'ü"
