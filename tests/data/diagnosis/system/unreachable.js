const net = require("net");

net.connect(80, "93.184.216.34");
