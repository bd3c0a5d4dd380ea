class K { get g() { return new Error('g').stack; } static s() { return new Error('s').stack; } ['com' + 'puted']() { return new Error('c').stack; } #p() { return new Error('p').stack; } p() { return this.#p(); } }
const k = new K();
console.log(k.g, K.s(), k.computed(), k.p(), [1].map(() => new Error('m').stack)[0], new (class { constructor() { this.e = new Error('ctor').stack; } })().e);
