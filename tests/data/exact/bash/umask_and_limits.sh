umask; umask -S; touch f; stat -c %a f; ulimit -n; ulimit -c; nice
