console.log(require('things'));
