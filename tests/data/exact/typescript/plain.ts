console.log('no types at all', 1 + 1);
