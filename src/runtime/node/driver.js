// Runs once while Node boots, before Node has set up its module loader; see driver.c.
// The last step of Node before a program is `Module.runMain(main)`. This script makes runMain an
// accessor. Reading it is where a zygote stays for life and where each embryo continues with a job.
// The accessor has returned before Node calls the function that it returned, so no frame, module or
// option of ours exists when the program runs.
(() => {
  'use strict';
  const addon = { exports: {} };
  process.dlopen(addon, '/tmp/belljar/belljar-node.so');
  const driver = addon.exports;
  const CWD = '/sandbox';

  // As path.resolve() does it: the value of process.argv[1].
  const resolve = (name) => {
    const parts = [];
    for (const part of (name[0] === '/' ? name : CWD + '/' + name).split('/')) {
      if (part === '..') parts.pop();
      else if (part !== '' && part !== '.') parts.push(part);
    }
    return '/' + parts.join('/');
  };

  // Finds where Node keeps the count of asynchronous operations. Returns its value, or undefined if
  // the place is not certain.
  const findCount = (AsyncResource) => {
    const first = new AsyncResource('warmup').asyncId();
    let places = driver.countIs(first);
    for (let i = 0; i < 8 && places > 1; i++) places = driver.countIs(new AsyncResource('warmup').asyncId());
    return places === 1 ? first - 1 : undefined;
  };

  // Node makes process.stdout and the others at the first use and keeps them, so that must not
  // happen before there is a job.
  const guardStreams = () => {
    const names = ['stdin', 'stdout', 'stderr'];
    const before = names.map((name) => Object.getOwnPropertyDescriptor(process, name));
    names.forEach((name, i) => Object.defineProperty(process, name, {
      ...before[i],
      get: () => driver.fail(`the warm-up uses process.${name}`),
    }));
    return { restore: () => names.forEach((name, i) => Object.defineProperty(process, name, before[i])) };
  };

  // Runs the first steps of most programs once, so that Node compiles its own part of them. See
  // warmup.h.
  const warmUp = (Module) => {
    const FILE = '/belljar/node_modules/warmup.js';
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
    module.load(FILE); // now the driver supplies the file
    // colorMode: otherwise the console would ask process.stderr for colours, which would then stay
    // the zygote's
    const { Console } = Module._load('console');
    module.exports(new Console({ stdout: stream, stderr: stream, colorMode: false }));
    process._tickCallback();
    stream._handle.close(); // destroy() would ask whether it is process.stderr
    for (let i = 0; i < 4; i++) {
      process._tickCallback();
      driver.turn();
    }
    fs.closeSync(unread);
    driver.over();
    driver.setCount(count);
    streams.restore();
    process.moduleLoadList.length = loaded;
    /^/.exec(''); // as Node does, to reset RegExp.$1
  };

  // A preloaded script may define a typical job (`pageProbe`): a child runs it before the first
  // embryo.
  const begin = (module, runMain, pageProbe) => {
    warmUp(module);
    const argv = pageProbe ? driver.serve(pageProbe) : driver.serve();
    if (argv === undefined) {
      pageProbe();
      driver.probeDone();
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

  // The module loader does not exist yet. Node later writes Module.runMain, and Module inherits
  // this setter from Function.prototype.
  Object.defineProperty(Function.prototype, 'runMain', {
    configurable: true,
    set(runMain) {
      delete Function.prototype.runMain;
      const Module = this;
      const get = () => begin(Module, runMain, get.pageProbe);
      Object.defineProperty(this, 'runMain', { enumerable: true, configurable: true, get });
    },
  });
})();
