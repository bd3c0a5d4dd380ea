// Run once by the driver while Node boots, before Node has set up its module loader; see driver.c.
//
// Node's last step before a program is `Module.runMain(main)`. Here runMain is made an accessor: reading it is where a
// zygote stays for life, and where each of its children wakes up with a job. The accessor has returned before Node calls
// what it returned, so no frame, module or option of ours is there when the program runs.
(() => {
  'use strict';
  const addon = { exports: {} };
  process.dlopen(addon, '/tmp/belljar/belljar-node.so');
  const driver = addon.exports;
  const CWD = '/sandbox';

  // As path.resolve() would: what the program finds in process.argv[1].
  const resolve = (name) => {
    const parts = [];
    for (const part of (name[0] === '/' ? name : CWD + '/' + name).split('/')) {
      if (part === '..') parts.pop();
      else if (part !== '' && part !== '.') parts.push(part);
    }
    return '/' + parts.join('/');
  };

  // Where the count of asynchronous operations is, and what it was; undefined when that cannot be told.
  const findCount = (AsyncResource) => {
    const first = new AsyncResource('rehearsal').asyncId();
    let places = driver.countIs(first);
    for (let i = 0; i < 8 && places > 1; i++) places = driver.countIs(new AsyncResource('rehearsal').asyncId());
    return places === 1 ? first - 1 : undefined;
  };

  // Node makes process.stdout and the like when they are first asked for, and keeps them: not before there is a job.
  const guardStreams = () => {
    const names = ['stdin', 'stdout', 'stderr'];
    const before = names.map((name) => Object.getOwnPropertyDescriptor(process, name));
    names.forEach((name, i) => Object.defineProperty(process, name, {
      ...before[i],
      get: () => driver.fail(`a rehearsal uses process.${name}`),
    }));
    return { restore: () => names.forEach((name, i) => Object.defineProperty(process, name, before[i])) };
  };

  // Once through what most programs do, so that Node has its own part of it compiled. See rehearsal.h.
  const rehearse = (Module) => {
    const FILE = '/belljar/node_modules/rehearsal.js';
    const loaded = process.moduleLoadList.length;
    const streams = guardStreams();
    const count = findCount(Module._load('async_hooks').AsyncResource);
    if (count === undefined) driver.fail('the count of asynchronous operations was not found');
    const [unread, fd] = driver.openPipe();
    const fs = Module._load('fs');
    const { Socket } = Module._load('net');
    const stream = new Socket({ fd, readable: false, writable: true });
    try { Module._load(FILE, null, false); } catch { /* looked for, and not there */ }
    fs.realpathSync(process.execPath, { encoding: 'utf8' });
    const module = new Module(FILE);
    module.load(FILE); // which the driver has after all
    // colorMode: whether a stream has colours is asked of process.stderr, which would then be the zygote's for ever
    const { Console } = Module._load('console');
    module.exports(new Console({ stdout: stream, stderr: stream, colorMode: false }));
    process._tickCallback();
    stream._handle.close(); // destroy() asks whether it is process.stderr
    for (let i = 0; i < 4; i++) {
      process._tickCallback();
      driver.turn();
    }
    fs.closeSync(unread);
    driver.over();
    driver.setCount(count);
    streams.restore();
    process.moduleLoadList.length = loaded;
    /^/.exec(''); // as Node does, for RegExp.$1 and its like
  };

  // What is preloaded may have something of its own that jobs do (`scout`): a child goes ahead and does it.
  const begin = (module, runMain, scout) => {
    rehearse(module);
    const argv = scout ? driver.serve(scout) : driver.serve();
    if (argv === undefined) {
      scout();
      driver.scouted();
    }
    const pid = argv.pop();
    Object.defineProperty(module, 'runMain', { value: runMain, writable: true, enumerable: true, configurable: true });
    argv[0] = process.execPath;
    argv[1] = resolve(argv[1]);
    process.argv.length = 0;
    process.argv.push(...argv);
    Object.defineProperty(process, 'pid', { ...Object.getOwnPropertyDescriptor(process, 'pid'), value: pid });
    return runMain.bind(module, argv[1]);
  };

  // The loader is not there yet. When it is, Node writes Module.runMain; Module inherits this from Function.prototype.
  Object.defineProperty(Function.prototype, 'runMain', {
    configurable: true,
    set(runMain) {
      delete Function.prototype.runMain;
      const Module = this;
      const get = () => begin(Module, runMain, get.scout);
      Object.defineProperty(this, 'runMain', { enumerable: true, configurable: true, get });
    },
  });
})();
