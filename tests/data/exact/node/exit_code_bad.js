process.exit('five');
