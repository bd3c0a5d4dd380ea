process.stdout.write(Buffer.from([0xff, 0xfe, 0x41, 0x0a]));
console.log('\ud800 lone', 'ü', '日本', '🎉', '\u0000');
