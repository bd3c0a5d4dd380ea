console.log(require('fs').readFileSync('/proc/self/limits', 'utf8'));
