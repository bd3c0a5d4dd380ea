for (let i = 0; i < 50; i++) { console.log('out', i); console.error('err', i); }
