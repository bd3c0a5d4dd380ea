import { test, expect } from 'vitest';
import { first } from './calc.js';
test('good', () => { expect(1 + 2).toBe(3); });
test('bad', () => { first([]); });
