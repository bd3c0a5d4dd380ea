console.log('runs?');
