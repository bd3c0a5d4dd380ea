f() { echo exported $1; }; export -f f; bash -c 'f x'; env | grep -A2 BASH_FUNC
