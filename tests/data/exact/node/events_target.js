const t = new EventTarget();
t.addEventListener('a', (ev) => console.log(ev.type, ev instanceof Event, ev.defaultPrevented), { once: true });
t.dispatchEvent(new Event('a')); t.dispatchEvent(new Event('a'));
console.log(new CustomEvent('c', { detail: 1 }).detail, new Event('x').type);
