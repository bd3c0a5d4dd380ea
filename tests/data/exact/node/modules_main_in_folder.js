console.log(__filename, __dirname, process.argv, process.cwd(), require('./other'));
