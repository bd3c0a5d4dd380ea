console.log(__filename, process.argv); throw new Error('x');
