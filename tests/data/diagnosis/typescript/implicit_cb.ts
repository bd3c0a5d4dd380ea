const handlers = [];
function on(cb) { handlers.push(cb); }
on((x) => x);
