nosuchcommand; echo $?; /sandbox; echo $?; ./nofile; echo $?; touch f; ./f; echo $?; cat /nope; echo $?
