console.log(__filename, process.argv);
