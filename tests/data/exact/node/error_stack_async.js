const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
async function one() { await sleep(1); await two(); }
async function two() { await sleep(1); throw new Error('deep'); }
const show = (e) => console.log(e.stack);
one().catch(show).then(() => Promise.all([one()])).catch(show); // two timers at a time would share a stack, or not
