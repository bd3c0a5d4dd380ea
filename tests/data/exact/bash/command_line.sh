cat /proc/$$/cmdline | tr '\0' ' '; cat /proc/$$/comm
