process.nextTick(() => { undefinedFunction(); });
