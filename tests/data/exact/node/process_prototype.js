console.log(Object.getOwnPropertyNames(Object.getPrototypeOf(process)), process instanceof require('events'), String(process), process.constructor.name);
