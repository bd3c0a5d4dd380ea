console.log(require('fs').readFileSync('/proc/self/environ', 'latin1').split('\0'));
