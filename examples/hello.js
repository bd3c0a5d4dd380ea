const os = require("os");

console.log(`Hello from Node ${process.version}`);
console.log(`network interfaces: ${JSON.stringify(Object.keys(os.networkInterfaces()))}`);
