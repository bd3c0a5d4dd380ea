function log(target: any, key: string, d: PropertyDescriptor) { const f = d.value; d.value = function (...a: any[]) { console.log('call', key, a); return f.apply(this, a); }; }
class A { @log add(a: number, b: number) { return a + b; } }
console.log(new A().add(1, 2));
