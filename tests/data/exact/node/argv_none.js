console.log(process.argv, process.argv0, process.execPath, process.execArgv, process.title);
