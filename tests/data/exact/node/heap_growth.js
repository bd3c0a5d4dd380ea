let a = [];
for (let i = 0; i < 300000; i++) { a.push({ i, s: 'str' + i }); if (i % 100000 === 0) a = a.slice(-1000); }
console.log(a.length, a.at(-1));
let s = ''; for (let i = 0; i < 1e5; i++) s += i; console.log(s.length);
