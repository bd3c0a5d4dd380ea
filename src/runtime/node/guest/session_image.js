// Images of a JavaScript session: this process writes one, or becomes one. The work is done in C
// (image.c); here are the parts of a process that only JavaScript can see.
'use strict';
const { randomInt, randomUUID } = require('crypto');
const { closeSync } = require('fs');
const { createContext, runInContext } = require('vm');

const UUIDS = 128; // that Node draws at once
const NUMBERS = 1024; // the same for randomInt()

// Node keeps a stock of random bytes. A full round through it ends with fresh ones.
const renewStocks = () => {
  for (let i = 0; i < UUIDS; i++) randomUUID();
  for (let i = 0; i < NUMBERS; i++) randomInt(2);
};

module.exports.make = ({ driver, inspector, post }) => {
  // Each context of the program has a stock for Math.random(). The list of all of them begins with
  // the last one that was made.
  const renewContexts = () => {
    let count = 0;
    const note = () => { count++; };
    inspector.on('Runtime.executionContextCreated', note);
    post('Runtime.enable', {});
    post('Runtime.disable', {});
    inspector.removeListener('Runtime.executionContextCreated', note);
    if (count === 1) return; // image.c has renewed the main one
    const [before, last] = [0, 1].map(() => runInContext('({})', createContext({})));
    driver.renewContexts(last, before);
  };

  const renew = (pid) => {
    renewStocks();
    renewContexts();
    const own = Object.getOwnPropertyDescriptor(process, 'pid');
    if (own && own.value === pid.before) Object.defineProperty(process, 'pid', { ...own, value: pid.now() });
  };

  const close = (fds) => {
    for (const fd of fds) {
      try {
        closeSync(fd);
      } catch { /* it is closed */ }
    }
  };

  // The answer to the host; undefined in a process that became the image.
  const write = (fds, room, words) => {
    if (fds.length < 2) return { failed: 'the request came without its descriptors' };
    const before = driver.pid();
    const [outcome, text, pauseUs, filesBytes] = driver.writeImage(fds, room, words.includes('files'), words.includes('strict'));
    if (outcome === 'became') {
      renew({ before, now: driver.pid });
      return undefined;
    }
    close(fds);
    if (outcome === 'failed') return { failed: text };
    const names = text.split('\0').slice(0, -1);
    if (outcome === 'refused') return { refused: names };
    return { not_carried: names, pause_us: pauseUs, files_bytes: filesBytes };
  };

  // Returns only if that is refused.
  const become = (fds, words) => {
    if (fds.length < 1) return { failed: 'the request came without its descriptor' };
    const failed = driver.becomeImage(fds, words.includes('files'));
    close(fds);
    return { failed };
  };
  return { write, become };
};
