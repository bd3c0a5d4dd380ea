console.log(process.execArgv, process.env.NODE_OPTIONS, process.throwDeprecation, process.noDeprecation);
new Buffer(1);
