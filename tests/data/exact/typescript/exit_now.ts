console.log('a' as string);
process.exit(7);
