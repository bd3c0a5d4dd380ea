process.env.NEW = 1; delete process.env.HOME;
console.log(process.env.NEW, typeof process.env.NEW, process.env.HOME, require('child_process').execSync('echo $NEW-$HOME-; env | sort').toString());
