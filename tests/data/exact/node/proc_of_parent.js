const { execFileSync } = require('child_process');
console.log(execFileSync('/bin/sh', ['-c', `tr '\\0' ' ' < /proc/$PPID/cmdline; cat /proc/$PPID/comm; readlink /proc/$PPID/exe /proc/$PPID/cwd; stat -c '%a' /proc/$PPID/fd; grep -E '^(Sig|Threads|NoNewPrivs|Seccomp:|Groups|Cap)' /proc/$PPID/status`]).toString());
