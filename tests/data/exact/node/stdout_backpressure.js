let i = 0;
const chunk = 'z'.repeat(65536);
(function go() {
  while (i++ < 30) if (!process.stdout.write(chunk)) return process.stdout.once('drain', go);
  process.stdout.end('done\n', () => console.error('flushed', process.stdout.writableFinished));
})();
