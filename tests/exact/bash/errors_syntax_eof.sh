echo a
echo "unterminated
