console.log(__filename, process.argv[1]);
