const test = require('node:test'), assert = require('assert');
const { PassThrough } = require('stream');
test('passes', () => assert.ok(1));
test('fails', { todo: true }, () => assert.strictEqual(1, 2));
test('suite', async (t) => { await t.test('inner', () => {}); await t.test('skipped', { skip: true }, () => {}); });
const write = process.stdout.write; // durations differ between any two runs
process.stdout.write = (chunk, ...rest) => write.call(process.stdout, String(chunk).replace(/(duration_ms:?) [\d.]+/g, '$1 N'), ...rest);
