// Calls every method of E2B's SDKs that makes sense here, and checks each answer. Prints one line of JSON.
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { Sandbox, NotFoundError, InvalidArgumentError, TimeoutError, CommandExitError, SandboxNotFoundError } from '@e2b/code-interpreter'
import { Sandbox as Core } from 'e2b'

let calls = 0
const counted = (target, skip = []) => new Proxy(target, {
  get(object, name) {
    const value = Reflect.get(object, name)
    if (typeof value === 'function' && !skip.includes(name)) return (...args) => { calls++; return value.apply(object, args) }
    return value
  },
})
const S = counted(Sandbox)
const wrap = (raw) => ({ raw, sbx: counted(raw), files: counted(raw.files), commands: counted(raw.commands), pty: counted(raw.pty) })
const until = async (test, what) => {
  for (let i = 0; i < 200; i++) { if (await test()) return; await sleep(50) }
  assert.fail('never: ' + what)
}
const refused = async (promise, kind, words) => {
  const e = await promise.then(() => assert.fail('not refused: ' + words), (e) => e)
  assert.ok(e instanceof kind, `${e.name}: ${e.message}`)
  assert.match(e.message, words)
}

const user = `a b ${process.pid}`
const { raw, sbx, files, commands, pty } = wrap(await S.create({ timeoutMs: 120_000, envs: { FOO: 'bar' }, metadata: { user, n: '1' } }))

// ---- code ----
{
  const lines = [], errors = [], results = []
  let run = await sbx.runCode('import os, sys\nprint("é ☃")\nprint("oh", file=sys.stderr)\nx = 41\nx + 1', {
    onStdout: (m) => lines.push(m.line), onStderr: (m) => errors.push(m.line), onResult: (r) => results.push(r.text) })
  assert.equal(run.text, '42')
  assert.deepEqual([lines.join(''), errors.join(''), results], ['é ☃\n', 'oh\n', ['42']])
  assert.equal(run.executionCount, 1)
  run = await sbx.runCode('os.environ["FOO"], os.environ.get("ONE")', { envs: { ONE: '1' } })
  assert.equal(run.text, "('bar', '1')")
  assert.equal((await sbx.runCode('os.environ.get("ONE") is None')).text, 'True')
  run = await sbx.runCode('def f():\n    1 / 0\nf()')
  assert.equal(run.error.name, 'ZeroDivisionError')
  assert.match(run.error.traceback, /<cell 4>", line 2/)
  run = await sbx.runCode('from IPython.display import HTML, Markdown, JSON, SVG, Latex, Javascript, display\n' +
    'display(HTML("<b>1</b>"), Markdown("*2*"), JSON({"a": 3}), SVG("<svg></svg>"), Latex("$x$"), Javascript("1"))\n"main"')
  assert.deepEqual(run.results.map((r) => r.isMainResult), [false, false, false, false, false, false, true])
  assert.equal(run.results[0].html, '<b>1</b>')
  assert.equal(run.results[1].markdown, '*2*')
  assert.deepEqual(run.results[2].json, { a: 3 })
  assert.match(run.results[3].svg, /<svg/)
  assert.equal(run.results[4].latex, '$x$')
  assert.equal(run.results[5].javascript, '1')
  run = await sbx.runCode('import matplotlib.pyplot as plt\nplt.bar(["a", "b"], [1, 2]); plt.title("T"); plt.show()')
  assert.ok(Buffer.from(run.results[0].png, 'base64').subarray(1, 4).equals(Buffer.from('PNG')))
  assert.equal(run.results[0].chart?.type, 'bar')
  assert.equal(run.results[0].chart.title, 'T')
  assert.deepEqual(run.results[0].chart.elements.map((e) => [e.label, e.value]), [['a', 1], ['b', 2]])
  run = await sbx.runCode('import pandas as pd\npd.DataFrame({"a": [1, 2]})')
  assert.match(run.results[0].html, /<table/)
  assert.deepEqual(run.results[0].data, { a: [1, 2] })
  assert.equal((await sbx.runCode('input("?")')).error.name, 'EOFError')
  await refused(sbx.runCode('1', { language: 'cobol' }), Error, /400/)
  // A client that leaves interrupts its code; the variables stay.
  await refused(sbx.runCode('import time\nleft = 1\ntime.sleep(60)', { timeoutMs: 300 }), TimeoutError, /timed out/)
  assert.equal((await sbx.runCode('left')).text, '1')
}

// ---- contexts ----
{
  const context = await sbx.createCodeContext({ cwd: '/tmp' })
  assert.equal((await sbx.runCode('import os\ny = 5\nos.getcwd(), "x" in globals()', { context })).text, "('/tmp', False)")
  assert.equal((await sbx.runCode('x, "y" in globals(), os.getcwd()')).text, "(41, False, '/sandbox')")
  assert.equal((await sbx.runCode('y', { context })).executionCount, 2)
  assert.deepEqual((await sbx.listCodeContexts()).map((c) => c.id), ['default', context.id])
  await sbx.restartCodeContext(context)
  assert.equal((await sbx.runCode('y', { context })).error.name, 'NameError')
  await sbx.removeCodeContext(context.id)
  await refused(sbx.runCode('1', { context }), NotFoundError, /not found/)
  await refused(sbx.removeCodeContext('nope'), NotFoundError, /not found/)
}

// ---- files ----
{
  const info = await files.write('/home/user/a/b.txt', 'héllo')
  assert.deepEqual([info.name, info.path], ['b.txt', '/home/user/a/b.txt'])
  assert.equal(await files.read('a/b.txt'), 'héllo')
  assert.deepEqual([...await files.read('a/b.txt', { format: 'bytes' })].slice(0, 2), [104, 0xc3])
  assert.equal(await (await files.read('a/b.txt', { format: 'blob' })).text(), 'héllo')
  assert.equal(await new Response(await files.read('a/b.txt', { format: 'stream' })).text(), 'héllo')
  assert.equal((await sbx.runCode('open("/home/user/a/b.txt").read()')).text, "'héllo'")
  const big = new Uint8Array(3_000_000).map((_, i) => i * 7)
  await files.write('big.bin', big.buffer)
  assert.ok(Buffer.from(await files.read('big.bin', { format: 'bytes' })).equals(Buffer.from(big)))
  await files.write('stream.txt', new Blob(['streamed']).stream())
  assert.equal(await files.read('stream.txt'), 'streamed')
  await files.write('gzip.txt', 'packed', { gzip: true })
  assert.equal(await files.read('gzip.txt', { gzip: true }), 'packed')
  const many = await files.writeFiles([{ path: 'm/1', data: 'one' }, { path: '/tmp/m "2"', data: new Blob(['two']) }])
  assert.deepEqual(many.map((f) => f.path), ['/home/user/m/1', '/tmp/m "2"'])
  assert.equal(await files.read('/tmp/m "2"'), 'two')
  assert.equal(await files.read((await files.write('empty', '')).path), '')
  assert.equal(await files.exists('m/1'), true)
  assert.equal(await files.exists('m/9'), false)
  assert.equal(await files.makeDir('deep/er/est'), true)
  assert.equal(await files.makeDir('deep/er'), false)
  const list = await files.list('deep', { depth: 3 })
  assert.deepEqual(list.map((e) => [e.path, e.type]), [['/home/user/deep/er', 'dir'], ['/home/user/deep/er/est', 'dir']])
  const entry = await files.getInfo('m/1')
  assert.deepEqual([entry.size, entry.type, entry.permissions, entry.owner], [3, 'file', '-rw-r--r--', 'user'])
  assert.ok(Math.abs(Date.now() - entry.modifiedTime) < 60_000)
  assert.equal((await files.rename('m/1', 'n/2')).path, '/home/user/n/2')
  await files.remove('n')
  assert.equal(await files.exists('n/2'), false)
  await refused(files.read('nope'), NotFoundError, /nope/)
  await refused(files.read('deep'), InvalidArgumentError, /directory/)
  await refused(files.write('/usr/x', '1'), Error, /403/)
  await refused(files.list('nope'), NotFoundError, /nope/)
  await refused(files.getInfo('nope', { user: 'root' }), InvalidArgumentError, /root/)

  const events = []
  const watch = await files.watchDir('deep', (e) => events.push(`${e.type} ${e.name}`), { recursive: true })
  calls++
  await files.write('deep/er/new.txt', '1')
  await files.rename('deep/er/new.txt', 'deep/er/old.txt')
  await files.remove('deep/er/old.txt')
  await until(() => events.includes('remove er/old.txt'), 'events of a watch: ' + events)
  assert.ok(events.includes('create er/new.txt') && events.includes('write er/new.txt') && events.includes('rename er/new.txt'), String(events))
  await watch.stop()

  const upload = await sbx.uploadUrl('up.txt', { useSignatureExpiration: 60 })
  const form = new FormData()
  form.append('file', new Blob(['by url']), 'x')
  assert.equal((await fetch(upload, { method: 'POST', body: form })).status, 200)
  const download = await sbx.downloadUrl('up.txt')
  assert.equal(await (await fetch(download)).text(), 'by url')
  assert.equal((await fetch(download.replace('up.txt', 'a%2Fb.txt'))).status, 401)
}

// ---- commands ----
{
  let done = await commands.run('echo "$FOO $ONE"; pwd; echo oh >&2', { envs: { ONE: '1' }, cwd: '/tmp' })
  assert.deepEqual([done.stdout, done.stderr, done.exitCode], ['bar 1\n/tmp\n', 'oh\n', 0])
  const e = await commands.run('echo out; exit 3').catch((e) => e)
  assert.ok(e instanceof CommandExitError)
  assert.deepEqual([e.exitCode, e.stdout], [3, 'out\n'])
  done = await commands.run('head -c 3000000 /dev/zero | tr "\\0" x')
  assert.equal(done.stdout.length, 3_000_000)
  const pieces = []
  const cat = await commands.run('cat; echo end', { background: true, stdin: true, onStdout: (s) => pieces.push(s) })
  calls += 4
  await cat.sendStdin('one\n')
  await commands.sendStdin(cat.pid, 'two\n')
  assert.ok((await commands.list()).some((p) => p.pid === cat.pid && p.cmd === '/bin/bash' && p.args.includes('cat; echo end')))
  const other = await commands.connect(cat.pid)
  await cat.sendStdin('three\n')
  await until(() => other.stdout.includes('three'), 'output for a second client')
  await cat.disconnect()
  await commands.closeStdin(cat.pid)
  assert.equal((await other.wait()).exitCode, 0)
  assert.match(other.stdout, /three\nend/)
  assert.match(pieces.join(''), /one\ntwo\n/)
  const long = await commands.run('sleep 100', { background: true })
  assert.equal(await long.kill(), true)
  assert.equal((await long.wait().catch((e) => e)).exitCode, -1)
  assert.equal(await commands.kill(long.pid), false)
  await refused(commands.run('sleep 100', { timeoutMs: 300 }), TimeoutError, /deadline|timed out/)
  await until(async () => !(await commands.list()).some((p) => p.args.includes('sleep 100')), 'the end of a late process')
  await refused(commands.connect(99999), NotFoundError, /99999/)
  await refused(commands.run('true', { cwd: '/nope' }), InvalidArgumentError, /nope/)
  await refused(commands.run('true', { user: 'root' }), InvalidArgumentError, /root/)
  await refused(commands.sendStdin(99999, 'x'), NotFoundError, /99999/)
  // A command runs beside a cell.
  const cell = sbx.runCode('import time\nfor i in range(200):\n    time.sleep(0.05)\n    if os.path.exists("/sandbox/go"): break\ni < 199')
  await commands.run('touch /sandbox/go')
  assert.equal((await cell).text, 'True')
}

// ---- terminals ----
{
  let seen = ''
  const shell = await pty.create({ cols: 91, rows: 17, onData: (bytes) => { seen += Buffer.from(bytes) }, envs: { WHO: 'pty' }, cwd: '/tmp' })
  calls += 2
  await pty.sendInput(shell.pid, Buffer.from('stty size; echo "$WHO $TERM" in $(pwd); [ -t 0 ] && tty\n'))
  await until(() => /17 91[^]*pty xterm\S* in \/tmp[^]*\/dev\/pts\/\d/.test(seen), 'a shell on a terminal: ' + seen)
  await pty.resize(shell.pid, { cols: 100, rows: 30 })
  await pty.sendInput(shell.pid, Buffer.from('stty size; python3 -c "import os; print(os.isatty(1), 6*7)"\n'))
  await until(() => /30 100[^]*True 42/.test(seen), 'another size: ' + seen)
  await pty.sendInput(shell.pid, Buffer.from(`bash -c 'trap "echo caught-$((2+3)); exit" INT; echo ready-$((1+1)); read x'\n`))
  await until(() => /ready-2/.test(seen), 'a program that waits: ' + seen)
  await pty.sendInput(shell.pid, Buffer.from('\x03'))  // it reaches that program, and not the shell
  await until(() => /caught-5/.test(seen), 'an interrupt: ' + seen)
  const second = await pty.connect(shell.pid, { onData: () => {} })
  await pty.sendInput(shell.pid, Buffer.from('exit 5\n'))
  assert.equal((await shell.wait().catch((e) => e)).exitCode, 5)
  assert.equal((await second.wait().catch((e) => e)).exitCode, 5)
  await refused(pty.create({ cols: 70000, rows: 24, onData: () => {} }), InvalidArgumentError, /columns/)
  const many = []
  for (let i = 0; i < 8; i++) many.push(await pty.create({ cols: 80, rows: 24, onData: () => {} }))
  await refused(pty.create({ cols: 80, rows: 24, onData: () => {} }), Error, /terminals of the sandbox are in use/)
  for (const one of many) assert.equal(await pty.kill(one.pid), true)
  await until(() => pty.create({ cols: 80, rows: 24, onData: () => {} }).then((one) => one.kill(), () => false), 'a terminal is free again')
}
await refused(pty.sendInput(99999, Buffer.from('x')), NotFoundError, /99999/)
await refused(pty.resize(99999, { cols: 80, rows: 24 }), NotFoundError, /99999/)
assert.equal(await pty.kill(99999), false)

// ---- life ----
let killed
{
  const id = raw.sandboxId
  const info = await sbx.getInfo()
  assert.deepEqual([info.sandboxId, info.state, info.metadata.user, info.templateId], [id, 'running', user, 'code-interpreter-v1'])
  assert.equal((await S.getInfo(id)).sandboxId, id)
  await sbx.setTimeout(300_000)
  assert.ok((await sbx.getInfo()).endAt - Date.now() > 250_000)
  assert.equal(await sbx.isRunning(), true)
  const [metrics] = await sbx.getMetrics()
  assert.ok(metrics.memUsed > 1e6 && metrics.diskTotal > metrics.diskUsed && metrics.diskUsed > 3e6 && metrics.cpuUsedPct >= 0, JSON.stringify(metrics))
  const names = async (query) => { const list = S.list({ query, limit: 1 }); const all = []; while (list.hasNext) all.push(...await list.nextItems()); return all.map((s) => s.sandboxId) }
  assert.deepEqual(await names({ metadata: { user } }), [id])
  assert.deepEqual(await names({ metadata: { user: 'nope' } }), [])
  assert.deepEqual(await names({ metadata: { user }, state: ['paused'] }), [])

  // A port of the sandbox has a host name, and the address is that of the service.
  const host = sbx.getHost(3000)
  assert.match(host, /^3000-.*\.localhost:\d+$/)
  const server = await commands.run('mkdir -p /tmp/site && cd /tmp/site && echo hello >a.txt && exec python3 -m http.server 3000',
    { background: true })
  const visit = (path) => new Promise((resolve, reject) => request(
    { host: '127.0.0.1', port: host.split(':')[1], path, headers: { Host: host } }, (answer) => {
      let text = ''
      answer.on('data', (piece) => { text += piece }).on('end', () => resolve([answer.statusCode, text]))
    }).on('error', reject).end())
  await until(async () => (await visit('/a.txt'))[0] === 200, 'the server in the sandbox answers')
  assert.deepEqual(await visit('/a.txt'), [200, 'hello\n'])
  assert.equal((await visit('/nope'))[0], 404)
  assert.equal(await server.kill(), true)
  await until(async () => (await visit('/a.txt'))[0] === 502, 'nobody listens')

  const snapshot = await sbx.createSnapshot({ name: 'first' })
  assert.deepEqual(snapshot.names, ['first'])
  assert.deepEqual((await sbx.listSnapshots().nextItems()).map((s) => s.snapshotId), [snapshot.snapshotId])
  await sbx.runCode('x = 7')
  const older = await S.create(snapshot.snapshotId, { timeoutMs: 60_000 })
  assert.equal((await older.runCode('x')).text, '41')
  assert.equal(await S.kill(older.sandboxId), true)
  const [one, two] = await sbx.fork({ count: 2, timeoutMs: 60_000 })
  calls += 4
  await one.runCode('x += 1')
  assert.deepEqual([(await one.runCode('x')).text, (await two.runCode('x')).text, (await sbx.runCode('x')).text], ['8', '7', '7'])
  assert.equal((await two.commands.run('cat a/b.txt')).stdout, 'héllo')
  await Promise.all([one.kill(), two.kill()])
  assert.equal(await S.deleteSnapshot(snapshot.snapshotId), true)
  assert.equal(await S.deleteSnapshot(snapshot.snapshotId), false)

  assert.equal(await sbx.pause(), true)
  assert.equal(await sbx.pause(), false)
  assert.equal(await sbx.isRunning(), false)
  assert.equal((await sbx.getInfo()).state, 'paused')
  await refused(commands.run('true'), SandboxNotFoundError, /not running/)
  await refused(sbx.runCode('1'), TimeoutError, /paused/)
  const back = await S.connect(id, { timeoutMs: 60_000 })
  assert.equal((await back.runCode('x')).text, '7')
  assert.equal((await back.commands.run('cat a/b.txt')).stdout, 'héllo')
  await sbx.connect()
  assert.equal(await files.read('a/b.txt'), 'héllo')

  await refused(S.create('nope'), Error, /404.*nope/)
  await refused(S.create({ allowInternetAccess: true }), Error, /403.*network/)
  await refused(sbx.updateNetwork({ allowOut: ['example.org'] }), Error, /network/)
  await sbx.updateNetwork({ allowInternetAccess: false })
  await refused(S.getInfo('nope'), SandboxNotFoundError, /nope/)
  await refused(S.connect('nope'), SandboxNotFoundError, /nope/)
  assert.equal(await S.kill('nope'), false)

  const core = counted(await Core.create({ timeoutMs: 2_000 }))
  assert.equal((await core.commands.run('echo core')).stdout, 'core\n')
  calls++
  await until(async () => !(await core.isRunning()), 'the end of a sandbox after its timeout')
  await refused(core.commands.run('true'), SandboxNotFoundError, /not running/)

  const running = sbx.runCode('import time\ntime.sleep(60)').catch((e) => e)
  await sleep(300)
  assert.equal(await sbx.kill(), true)
  assert.equal(await sbx.kill(), false)
  killed = await running
  assert.equal(await sbx.isRunning(), false)
  await refused(sbx.runCode('1'), TimeoutError, /not found/)
}
console.log(JSON.stringify({ calls, killed: killed.error?.value ?? String(killed) }))
process.exit(0)
