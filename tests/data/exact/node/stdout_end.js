process.stdout.on('error', (e) => console.error(e.code, e.message));
process.stdout.once('close', () => { try { console.log('more'); } catch (e) { console.error(e.code); } });
process.stdout.end('bye\n');
