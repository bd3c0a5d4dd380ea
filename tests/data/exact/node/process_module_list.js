console.log(process.moduleLoadList.join('\n'));
