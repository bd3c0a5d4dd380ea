require('node:util').parseArgs({ options: {} });
