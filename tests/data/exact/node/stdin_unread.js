console.log('not read');
