process.exit(256 + 9);
