import fs from 'fs';
import * as path from 'node:path';
import { EventEmitter, once } from 'events';
import type { Stats } from 'fs';
import os, { type CpuInfo, EOL } from 'os';
let s: Stats | undefined; let c: CpuInfo | undefined;
console.log(typeof fs.readFileSync, path.join('a', 'b'), typeof once, new EventEmitter() instanceof EventEmitter, JSON.stringify(EOL), typeof os.cpus, s, c);
