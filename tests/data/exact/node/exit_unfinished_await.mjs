console.log('before');
await new Promise(() => {});
