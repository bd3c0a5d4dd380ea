console.log(require('fs').readlinkSync('/proc/self/exe'), require('fs').readlinkSync('/proc/self/cwd'));
