import { Shape } from './lib';
import type { Other } from './absent';
export type { Shape };
const s: Shape = { x: 1 };
console.log(s);
