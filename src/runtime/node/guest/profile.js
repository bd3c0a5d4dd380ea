// Preloaded into Node (-r). V8's own profiler samples the main thread every millisecond. The
// samples go into the report file (run/reports.h) at the end, and four times a second. For the
// latter a thread of ours asks the main thread through the inspector, which interrupts even an
// endless loop: a killed run has its profile.
'use strict';
const { isMainThread, Worker } = require('worker_threads');

// Workers and forked children of the program inherit our options. Only the first process writes a
// report.
if (isMainThread && !process.channel) {
  const { Session } = require('inspector');
  const path = require('path');
  const { INTERVAL_US, cpuUs, summary, write } = require('./profile_summary.js');
  const home = process.cwd();
  const began = cpuUs();
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.setSamplingInterval', { interval: INTERVAL_US });
  session.post('Profiler.start');
  const worker = new Worker(path.join(__dirname, 'profile_worker.js'), { workerData: { home, began }, execArgv: [], stdin: false });
  worker.unref();
  worker.on('error', () => {});

  const { findSourceMap } = require('module');
  // Maps a line of the generated JavaScript to its line of TypeScript.
  const original = (file, line) => {
    const map = findSourceMap && findSourceMap(file);
    const entry = map && map.findEntry(line - 1, 0);
    return entry && entry.originalLine !== undefined ? entry.originalLine + 1 : line;
  };
  process.once('exit', () => {
    session.post('Profiler.stop', (error, result) => {
      if (!error) write(home, summary([result.profile], home, began, original));
    });
  });
}
for (const name of Object.keys(require.cache)) delete require.cache[name];
