// The reference of tests/unit/... : Node's own REPL, evaluating cells of a JSON list on stdin. Prints a JSON list of
// { stdout, stderr, text, error: { name, message } }.
'use strict';
const repl = require('repl');
const { PassThrough } = require('stream');
const fs = require('fs');

const cells = JSON.parse(fs.readFileSync(0, 'utf8'));
const server = repl.start({ prompt: '', input: new PassThrough(), output: new PassThrough(), terminal: false, useColors: false, useGlobal: true });
const written = { stdout: '', stderr: '' };
const print = fs.writeSync.bind(fs, 1);
for (const name of ['stdout', 'stderr'])
  process[name].write = (chunk) => {
    written[name] += chunk;
    return true;
  };

const evaluate = (code) => new Promise((resolve) => {
  const answer = (error, value) => resolve(error === null || error === undefined ? { value } : { error });
  server.eval(`${code}\n`, server.context, 'cell', answer);
});
const named = (error) => (error instanceof Error || Object.prototype.toString.call(error) === '[object Error]'
  ? { name: error.name, message: error.message } : { name: 'Uncaught', message: server.writer(error) });
// The REPL gives back errors that it recognises as incomplete input wrapped.
const unwrapped = (error) => (error instanceof repl.Recoverable ? error.err : error);

(async () => {
  const results = [];
  for (const code of cells) {
    written.stdout = '';
    written.stderr = '';
    let thrown;
    server._domain.removeAllListeners('error');
    const threw = new Promise((resolve) => server._domain.on('error', (error) => resolve({ error })));
    const { value, error } = await Promise.race([evaluate(code), threw]);
    thrown = unwrapped(error);
    if (error === undefined) server.underscoreAssigned || (server.last = value);
    else if (!server.underscoreErrAssigned) server.lastError = thrown;
    results.push({ ...written, text: error !== undefined || value === undefined ? null : server.writer(value), error: error === undefined ? null : named(thrown) });
  }
  print(JSON.stringify(results));
  process.exit(0);
})();
