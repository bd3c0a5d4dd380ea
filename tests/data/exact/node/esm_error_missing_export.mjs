import { nope } from './lib.mjs';
