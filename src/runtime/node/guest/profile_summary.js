// Turns V8's profiles into the content of a report.
'use strict';
const fs = require('fs');
const path = require('path');
const { fileURLToPath } = require('url');

const ROWS = 100;
const STACKS = 200;
const DEPTH = 60;
const REPORT = '.belljar-report.json';
exports.INTERVAL_US = 1000;

// Writes the whole file or nothing. It uses our own copy of fs, because the program may have
// changed its own.
const { writeFileSync, renameSync, readFileSync } = fs;
exports.write = (home, profile) => {
  const file = path.join(home, REPORT);
  const draft = `${file}.${require('worker_threads').threadId}`;
  try {
    writeFileSync(draft, JSON.stringify({ profile }));
    renameSync(draft, file);
  } catch { /* a full disk is the program's own affair; the last report stays */ }
};

// The CPU time of the main thread so far; NaN if the kernel does not tell.
exports.cpuUs = () => {
  try {
    return parseInt(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1'), 10) / 1000;
  } catch { return NaN; }
};

const toPath = (url) => {
  try { return url.startsWith('file:') ? fileURLToPath(url) : url; } catch { return url; }
};
const IDLE = new Set(['(idle)', '(root)']);
const OURS = path.dirname(__dirname) + '/';
// True for nodes where others may use the CPU: V8 counts elapsed time, not CPU time. There are more
// such nodes, and on a busy machine every node is one, so the kernel's number bounds the sum.
const waits = (node) => node.name === '(program)' || (node.name === 'spawnSync' && node.file.startsWith('node:'));
const META = new Set(['(program)', '(garbage collector)']);

class Summary {
  constructor(home, original) {
    this.home = home + '/';
    this.original = original || ((file, line) => line);
    this.functions = new Map();
    this.lines = new Map();
    this.stacks = new Map();
    this.samples = 0;
    this.us = 0;
    this.ranUs = 0;
    this.sources = new Map();
  }

  // The nodes of a profile, each with its parent, its place, and the time it was seen.
  nodes(profile) {
    const nodes = new Map();
    for (const n of profile.nodes) {
      const { functionName, url, lineNumber, columnNumber } = n.callFrame;
      const file = META.has(functionName) ? '(node)' : toPath(url) || '(node)';
      const own = file.startsWith(this.home) && !file.includes('/node_modules/');
      const whole = own && !functionName && lineNumber === 0 && columnNumber === 0;
      nodes.set(n.id, { name: whole ? '(module)' : functionName || '(anonymous)', file, own, line: lineNumber + 1, self: 0, ticks: n.positionTicks || [] });
    }
    for (const n of profile.nodes) for (const child of n.children || []) nodes.get(child).parent = nodes.get(n.id);
    return nodes;
  }

  fileOf(node) { return node.file.startsWith(this.home) ? node.file.slice(this.home.length) : node.file; }

  // Our own work for the program, such as reading its TypeScript, does not count.
  isOurs(node) {
    for (let at = node; at; at = at.parent) if (at.file.startsWith(OURS)) return true;
    return false;
  }

  add(profile) {
    const nodes = this.nodes(profile);
    profile.samples.forEach((id, i) => {
      const node = nodes.get(id);
      const us = Math.max(0, profile.timeDeltas[i + 1] ?? 0);
      if (!node || IDLE.has(node.name) || this.isOurs(node)) return;
      node.self += us;
      this.samples++;
      this.us += us;
      if (!waits(node)) this.ranUs += us;
    });
    for (const node of nodes.values()) if (node.self) this.note(node);
  }

  note(node) {
    const key = (n) => `${n.file}:${n.line}:${n.name}`;
    const met = new Set();
    const stack = [];
    let ownLines = null;
    for (let at = node; at && at.name !== '(root)'; at = at.parent) {
      const row = this.functions.get(key(at)) || { node: at, self: 0, total: 0 };
      this.functions.set(key(at), row);
      if (at === node) row.self += node.self;
      if (!met.has(key(at))) row.total += node.self;
      met.add(key(at));
      if (!ownLines && at.own) ownLines = at;
      if (stack.length < DEPTH && (at.own || at === node || !at.file.startsWith('node:')))
        stack.push(`${at.name} ${this.fileOf(at)}:${at.line}`);
    }
    if (ownLines) this.noteLines(ownLines, node);
    const folded = stack.reverse().join(';');
    this.stacks.set(folded, (this.stacks.get(folded) || 0) + node.self);
  }

  // Time in functions of other files counts for the hottest lines of the calling function, or for
  // its first line.
  noteLines(own, node) {
    const ticks = own.ticks.length ? own.ticks : [{ line: own.line, ticks: 1 }];
    const all = ticks.reduce((sum, t) => sum + t.ticks, 0);
    for (const t of ticks) {
      const line = this.original(own.file, t.line);
      const k = `${line}:${own.file}`;
      const row = this.lines.get(k) || { file: own.file, line, self: 0, node: own };
      row.self += node.self * t.ticks / all;
      this.lines.set(k, row);
    }
  }

  text(file, line) {
    if (!this.sources.has(file)) {
      let lines = [];
      try { lines = readFileSync(file, 'utf8').split('\n'); } catch { /* it is gone */ }
      this.sources.set(file, lines);
    }
    return (this.sources.get(file)[line - 1] || '').trim().slice(0, 200);
  }

  result(cpuUs) {
    const ms = (us) => Math.round(us) / 1000;
    const functions = [...this.functions.values()]
      .sort((a, b) => b.node.own - a.node.own || b.self - a.self || b.total - a.total).slice(0, ROWS)
      .map(({ node, self, total }) => ({ function: node.name, file: this.fileOf(node),
        line: node.own ? this.original(node.file, node.line) : Math.max(0, node.line), self_ms: ms(self), total_ms: ms(total) }));
    const lines = [...this.lines.values()].sort((a, b) => b.self - a.self).slice(0, ROWS)
      .map((r) => ({ file: this.fileOf(r), line: r.line, self_ms: ms(r.self), text: this.text(r.file, r.line) }));
    const stacks = [...this.stacks].sort((a, b) => b[1] - a[1]).slice(0, STACKS).map(([stack, us]) => ({ stack, ms: ms(us) }));
    const ranUs = cpuUs >= 0 ? Math.min(this.ranUs, cpuUs) : this.ranUs;
    return { sampled_ms: ms(this.us), ran_ms: ms(ranUs), samples: this.samples, functions, lines, stacks };
  }
}

// beganUs: cpuUs() at the beginning. original(file, line): the source line of a generated line.
exports.summary = (profiles, home, beganUs, original) => {
  const all = new Summary(home, original);
  for (const profile of profiles) all.add(profile);
  return all.result(exports.cpuUs() - beganUs);
};
