console.log(typeof process.getBuiltinModule, process.getBuiltinModule?.('fs') === require('fs'), process.allowedNodeEnvironmentFlags.size);
