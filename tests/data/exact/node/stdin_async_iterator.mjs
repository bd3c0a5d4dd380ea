let all = '';
for await (const chunk of process.stdin) all += chunk;
console.log(all.split('\n').length, all.length);
