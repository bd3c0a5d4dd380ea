const { setTimeout: delay } = require('timers/promises');

async function load(id) {
  await delay(1);
  return id === 1 ? { user: { name: 'Ada' } } : {};
}

async function names(ids) {
  const all = await Promise.all(ids.map(load));
  return all.map((entry) => entry.user.name);
}

names([1, 2]).then(console.log);
