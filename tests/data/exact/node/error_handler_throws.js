process.on('uncaughtException', () => { throw new Error('again'); });
throw new Error('first');
