require('no-such-package-anywhere');
