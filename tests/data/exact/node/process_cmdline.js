console.log(require('fs').readFileSync('/proc/self/cmdline', 'utf8').split('\0'), require('fs').readFileSync('/proc/self/comm', 'utf8'));
