console.log(Object.getOwnPropertyNames(process), Object.getOwnPropertySymbols(process).map(String));
