echo x > /nonexistent/f; echo $?; cat < /nope; echo $?; exec 9< /nope; echo never?
