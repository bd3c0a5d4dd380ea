console.log({ a: 1, b: 'x' });
