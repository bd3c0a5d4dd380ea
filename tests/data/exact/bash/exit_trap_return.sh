f() { trap 'echo return' RETURN; echo in; }; f; trap 'echo debug $BASH_COMMAND' DEBUG; : one; trap - DEBUG; trap -p
