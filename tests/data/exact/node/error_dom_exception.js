const e = new DOMException('m', 'AbortError');
console.log(e.name, e.code, e instanceof Error, String(e));
const c = new AbortController();
c.signal.addEventListener('abort', () => console.log('aborted', c.signal.reason.name));
c.abort();
structuredClone(() => {});
