const out = [];
for (const ms of [600, 200, 400, 1, 0, 100]) setTimeout(() => out.push(ms), ms);
const i = setInterval(() => { out.push('i'); clearInterval(i); }, 300);
setTimeout(() => console.log(out), 900);
