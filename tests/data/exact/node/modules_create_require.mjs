import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);
console.log(require('./c.cjs'), require.resolve('./c.cjs'), import.meta.resolve('./x'), import.meta.dirname, import.meta.filename, Object.keys(import.meta));
