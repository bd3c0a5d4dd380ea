console.log(process.argv, process.argv.length, Object.getOwnPropertyDescriptor(process, 'argv').writable);
