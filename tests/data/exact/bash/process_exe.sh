readlink /proc/self/exe; cat /proc/self/comm; tr '\0' ' ' < /proc/self/cmdline; echo; echo "$(</proc/self/comm)"; ulimit -a
