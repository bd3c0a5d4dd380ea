printf '\x00\xff\xfe\n'; echo -e 'a\tb\\n\0101'; printf '%q ' 'a b' $'\n' ''; printf '%5.2f|%-5s|%05d|%x|%c\n' 3.14159 ab 42 255 xyz; echo -n; echo -E '\n'
