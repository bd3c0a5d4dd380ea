const net = require("net");

console.log(`Hello from Node ${process.version}`);
net.connect(443, "93.184.216.34")
    .on("connect", () => console.log("the network is there"))
    .on("error", (e) => console.log(`the network is not: ${e.code}`));
