process.stdin.setEncoding('utf8');
process.stdin.on('data', (d) => console.log('data', JSON.stringify(d)));
process.stdin.on('end', () => console.log('end'));
process.stdin.on('close', () => console.log('close'));
