console.log(require('#inner'), require('self/thing'));
