const r = process.report.getReport();
console.log(Object.keys(r), r.header.commandLine, r.header.cwd, r.header.nodejsVersion, r.header.trigger, r.header.threadId, r.header.processId === process.pid);
