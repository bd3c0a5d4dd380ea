import fs, { readFileSync } from 'fs';
import * as ns from './lib.mjs';
import cjs, { named } from './c.cjs';
import data from './d.json' with { type: 'json' };
console.log(import.meta.url, ns, cjs, named, data, typeof readFileSync, fs === (await import('node:fs')).default, this, process.argv);
try { require('fs'); } catch (e) { console.log(e.message); }
try { __filename; } catch (e) { console.log(e.message); }
