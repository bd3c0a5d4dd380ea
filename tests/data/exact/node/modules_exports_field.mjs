import { x } from 'pkg';
import y from 'pkg/feature';
console.log(x, y);
try { await import('pkg/hidden'); } catch (e) { console.log(e.code, e.message); }
