console.log(__filename, process.argv, require.main.filename, new Error('x').stack);
