// The thread of profile.js: takes the main thread's profile in pieces and writes a report of the
// pieces so far.
'use strict';
const { Session } = require('inspector');
const { workerData } = require('worker_threads');
const { INTERVAL_US, summary, write } = require('./profile_summary.js');

const WRITE_EVERY_MS = 250;
const PIECES_MAX = 400; // beyond that the oldest piece is dropped: a run that long has shown its behaviour
const session = new Session();
session.connectToMainThread();
const post = (method, params) => new Promise((done) => session.post(method, params, (error, result) => done(error ? undefined : result)));

setInterval(() => {}, 1 << 30); // keeps the thread alive; a pending answer does not
const pieces = [];
const begin = async () => {
  await post('Profiler.enable');
  await post('Profiler.setSamplingInterval', { interval: INTERVAL_US });
  await post('Profiler.start');
};
const look = async () => {
  const result = await post('Profiler.stop');
  await post('Profiler.start');
  if (result) pieces.push(result.profile);
  if (pieces.length > PIECES_MAX) pieces.shift();
  write(workerData.home, summary(pieces, workerData.home, workerData.began));
  setTimeout(look, WRITE_EVERY_MS);
};
begin().then(() => setTimeout(look, WRITE_EVERY_MS));
