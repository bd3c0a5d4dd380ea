console.log(process.argv, process.execArgv, process.argv0, require.main === module, __filename, __dirname);
