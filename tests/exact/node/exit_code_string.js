process.exit('5');
