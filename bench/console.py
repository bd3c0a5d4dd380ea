#!/usr/bin/python3
"""The console in Chromium:   bench/console.py [--quick] [PART]...

Prints one line for each number, with the load of the machine: the first visit, the time from a click on Run to the
painted first byte beside the API's own time, a program that prints a million lines, reloads at any moment, a killed
keeper, and a notebook with a thousand cells. The budgets are those of SPEC.md; the exit status is 1 if one of them is
exceeded. The length of a task of the page's main thread is from a trace of the browser. It is wall time: a busy machine
makes it longer. PART is visit, click, flood, reloads, notebook, lighthouse or keeper; without one, all are measured.
"""
import hashlib
import http.client
import json
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests/lib"))

import browser  # noqa: E402
import service  # noqa: E402

worst = 0
PROGRAM = "print('first')"
FLOOD = "print('\\n'.join(map(str, range(1000000))))"
# The time from the click to the frame after the first row is in the document, measured in the page.
CLICK = """
const done = arguments[0];
const began = performance.now();
const seen = new MutationObserver(() => {
  if (![...document.querySelectorAll('.output .row')].some((r) => r.textContent === 'first')) return;
  seen.disconnect();
  requestAnimationFrame(() => done(performance.now() - began));
});
seen.observe(document.querySelector('.screen'), { childList: true, subtree: true });
document.querySelector('#run').click();
"""


def say(name, value, unit, budget):
    global worst
    fits = value <= budget
    worst = max(worst, 0 if fits else 1)
    load = os.getloadavg()[0]
    print(f"{name:<46} {value:>10.1f} {unit:<3} (budget {budget:g}) {'ok' if fits else 'EXCEEDED'}, load {load:.1f}",
          flush=True)


def first_visit(s):
    loads = []
    for _ in range(5):
        with browser.Browser(s) as b:
            b.cdp("Network.enable")
            b.open("#/run")
            b.until(lambda: b.inside(".cm-content"))
            loads.append(b.js("return performance.getEntriesByName('editor')[0].startTime"))
            b.settle()
            size = b.js("return performance.getEntriesByType('resource').concat(performance.getEntriesByType("
                        "'navigation')).reduce((sum, e) => sum + e.transferSize, 0)")
    say("first visit: transferred", size / 1000, "KB", 220)
    say("first visit: editor usable, median of 5", statistics.median(loads), "ms", 800)


def api_first_byte(s):
    c = http.client.HTTPConnection("127.0.0.1", s.port)
    began = time.perf_counter()
    c.request("POST", "/v1/runs", json.dumps({"code": PROGRAM, "language": "python", "stream": True}),
              {"Content-Type": "application/json"})
    reply = c.getresponse()
    while b'"stdout"' not in reply.readline():
        pass
    took = (time.perf_counter() - began) * 1000
    reply.read()
    c.close()
    return took


def click_to_paint(s, rounds):
    with browser.Browser(s) as b:
        b.open("#/run")
        b.write(PROGRAM)
        b.choose("#language", "python")
        page, api = [], []
        for _ in range(rounds):
            api.append(api_first_byte(s))
            page.append(b.driver.execute_async_script(CLICK))
            b.over()
    api, page = api[2:], page[2:]
    print(f"{'API: request to first byte, median':<46} {statistics.median(api):>10.1f} ms")
    print(f"{'console: click to painted first byte, median':<46} {statistics.median(page):>10.1f} ms")
    say("console over API, median", statistics.median(page) - statistics.median(api), "ms", 30)


class Trace:
    """The longest task of the main thread of the page, in ms, by the trace of the browser: wall time and CPU time."""

    def __init__(self, b):
        self.b, self.threads, self.tasks = b, {}, []
        self.read()  # the names of threads come once, at the beginning
        self.tasks = []

    def read(self):
        for entry in self.b.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] != "Tracing.dataCollected":
                continue
            e = message["params"]
            if e.get("name") == "thread_name":
                self.threads[e["pid"], e["tid"]] = e["args"]["name"]
            elif e.get("name") in ("ThreadControllerImpl::RunTask", "RunTask") and e.get("ph") == "X":
                self.tasks.append((e["dur"] / 1000, e.get("tdur", 0) / 1000, (e["pid"], e["tid"])))

    def longest(self):
        self.read()
        found = [times for *times, thread in self.tasks if self.threads.get(thread) == "CrRendererMain"]
        assert found, "the trace of the browser has no task of the page"
        return [max(column) for column in zip(*found)]


def tab_bytes(b):
    """Private memory of the renderer of the page: its heap, its document and its images."""
    pids, profile = [], b.profile
    for line in subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True).stdout.splitlines():
        if profile in line and "--type=renderer" in line and "--extension-process" not in line:
            pids.append(int(line.split()[0]))
    sizes = []
    for pid in pids:
        try:
            rollup = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
        except OSError:
            continue
        sizes.append(sum(int(row.split()[1]) * 1024 for row in rollup.splitlines() if row.startswith("Private_")))
    return max(sizes, default=0)


# The time from the click to the word in the page, measured in the page.
CANCEL = """
const done = arguments[0];
const began = performance.now();
const seen = new MutationObserver(() => {
  if (document.querySelector('.screen').dataset.phase !== 'over') return;
  seen.disconnect();
  done(performance.now() - began);
});
seen.observe(document.querySelector('.screen'), { attributes: true });
document.querySelector('#cancel').click();
"""


def flood(s):
    with browser.Browser(s, trace="toplevel,__metadata") as b:
        b.open("#/run")
        b.write(FLOOD)
        trace = Trace(b)
        b.click("#run")
        b.over()
        b.until(lambda: b.output().rstrip().endswith("999999"))
        say("a million lines: private memory of the tab", tab_bytes(b) / 1e6, "MB", 200)
        b.open("icon.svg")  # the trace comes with a change of the page
        wall, cpu = trace.longest()
        print(f"{'a million lines: longest task, CPU time':<46} {cpu:>10.1f} ms")
        say("a million lines: longest task", wall, "ms", 100)
        b.open("#/run")
        b.write("while True: print('x' * 200)")
        times = []
        for _ in range(3):
            b.click("#run")
            b.until(lambda: "xxx" in b.output())
            times.append(b.driver.execute_async_script(CANCEL))
        say("cancel of an endless program, median of 3", statistics.median(times), "ms", 100)


# A hash of the whole text of the run on the page, by the button that copies it.
COPIED = """
navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); };
"""


def page_text(b):
    b.js(COPIED + "document.querySelectorAll('.choice button')[1].click()")
    b.press("Copy")
    text = b.until(lambda: b.js("return window.copied ?? null") or "")
    b.js("window.copied = null; document.querySelectorAll('.choice button')[0].click()")
    return text


def reloads(s, rounds):
    """At random moments of a run; in the end the page has exactly the bytes of /stdout."""
    rng, equal = random.Random(1), 0
    code = ("import time\nfor i in range(4000):\n    print('line', i, '\u00e4' * (i % 7), flush=True)\n"
            "    time.sleep(0.0003)")
    with browser.Browser(s) as b:
        for _ in range(rounds):
            run_id = s.post("/v1/runs", {"language": "python", "code": code, "wait": False}).json["id"]
            b.open("icon.svg")
            b.open(f"#/runs/{run_id}")
            time.sleep(rng.random() * 1.2)
            b.driver.refresh()
            b.over()
            whole = s.get(f"/v1/runs/{run_id}/stdout").body
            same = hashlib.sha256(page_text(b).encode()).digest() == hashlib.sha256(whole).digest()
            equal += same
    say(f"reload at any moment: not equal, of {rounds}", rounds - equal, "", 0)


def killed_keeper(rounds):
    """The cell of a session goes on over the death of the keeper, and so does the page."""
    waits, wrong = [], 0
    code = "import time\nfor i in range(100):\n    print('line', i, flush=True); time.sleep(0.05)"
    with service.Service() as s, browser.Browser(s) as b:
        for _ in range(rounds):
            session = s.post("/v1/sessions", {"language": "python"}).json["id"]
            b.open("icon.svg")
            b.open(f"#/sessions/{session}")
            b.until(lambda: b.has(".cell"))
            s.post(f"/v1/sessions/{session}/exec", {"code": code, "wait": False})
            rows = "return [...document.querySelectorAll('.cell .output .row')].map((r) => r.textContent)"
            b.until(lambda: len(b.js(rows)) > 5)
            last = b.js(rows)[-1]
            began = time.perf_counter()
            os.kill(s.half("keeper").pid, signal.SIGKILL)
            b.until(lambda: b.js(rows)[-1] != last and int(b.js(rows)[-1].split()[1]) > int(last.split()[1]) + 2)
            waits.append((time.perf_counter() - began) * 1000)
            b.until(lambda: b.js(rows)[-1] == "line 99")
            b.js("document.querySelector('.cell .output').scrollTop = 0")
            b.until(lambda: s.get(f"/v1/sessions/{session}/cells").json["cells"][0]["status"] == "ok")
            stdout = s.get(f"/v1/sessions/{session}/cells").json["cells"][0]["stdout"]
            wrong += stdout != "".join(f"line {i}\n" for i in range(100))
            shown = b.until(lambda: (r := b.js(rows)) and r[0] == "line 0" and r)
            wrong += shown != [f"line {i}" for i in range(len(shown))]
            s.delete(f"/v1/sessions/{session}")
    say(f"keeper killed: page goes on, slowest of {rounds}", max(waits), "ms", 2000)
    say("keeper killed: lines lost or doubled", wrong, "", 0)


# From the moment at which the browser got the key to the end of the frame that shows it: the wait of the event, its
# handlers, style, layout and paint. The browser of this part makes a frame as soon as there is something to show, so
# that the number has no wait for the screen in it (0 to 16.7 ms at 60 frames a second).
KEYSTROKES = """
const done = arguments[0];
const editor = document.querySelector('.cell-editor').shadowRoot.querySelector('.cm-content');
editor.focus();
window.keystrokes = [];
addEventListener('keydown', (e) => {
  requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => window.keystrokes.push(performance.now() - e.timeStamp);
    channel.port2.postMessage(0);
  });
}, { capture: true });
done();
"""
NO_WAIT = ("--disable-frame-rate-limit", "--disable-gpu-vsync")
KEYS = 100


def page_cpu_ms(b):
    """CPU time that the main thread of the page has used for tasks."""
    return {m["name"]: m["value"] for m in b.cdp("Performance.getMetrics")["metrics"]}["TaskDuration"] * 1000


def keystrokes(b, cells):
    b.cdp("Performance.enable", timeDomain="threadTicks")
    b.driver.execute_async_script(KEYSTROKES)
    before = page_cpu_ms(b)
    for _ in range(KEYS):
        b.cdp("Input.dispatchKeyEvent", type="keyDown", text="x", key="x", code="KeyX")
        b.cdp("Input.dispatchKeyEvent", type="keyUp", key="x", code="KeyX")
        time.sleep(0.03)
    cpu = (page_cpu_ms(b) - before) / KEYS
    times = sorted(b.js("return window.keystrokes"))
    assert len(times) > KEYS * 0.9, times
    print(f"{'keystroke: CPU time of the page, mean':<46} {cpu:>10.1f} ms")
    print(f"{'keystroke to the frame that shows it, median':<46} {statistics.median(times):>10.1f} ms")
    say(f"notebook with {cells} cells: keystroke, p95", times[int(len(times) * 0.95)], "ms", 16)


def notebook(s, cells):
    session = s.post("/v1/sessions", {"language": "bash"}).json["id"]
    for i in range(cells):
        s.post(f"/v1/sessions/{session}/exec", {"code": f"echo cell {i}"})
    with browser.Browser(s, args=NO_WAIT) as b:
        b.open("#/sessions")
        b.settle()
        opened = []
        for _ in range(3):
            b.open("icon.svg")
            b.open("#/sessions")
            b.settle()
            began = b.js("location.hash = arguments[0]; return performance.now()", f"#/sessions/{session}")
            b.until(lambda: b.js("return document.querySelectorAll('.cell').length") > 0)
            # the moment at which the first cells were painted, by the page's own clock
            opened.append(b.js("return performance.getEntriesByName('notebook').at(-1)?.startTime ?? performance.now()")
                          - began)
        say(f"notebook with {cells} cells: opens, median of 3", statistics.median(opened), "ms", 1000)
        b.until(lambda: b.has(".cell-editor"))
        b.settle()
        keystrokes(b, cells)


def lighthouse(s):
    """Scores of Lighthouse, if it is installed (npm install lighthouse@12.8.2 in a directory of your own)."""
    program = os.environ.get("LIGHTHOUSE")
    if not program:
        print("lighthouse: not measured: set LIGHTHOUSE to its program")
        return
    made = subprocess.run(["node", program, f"http://127.0.0.1:{s.port}/console/", "--quiet", "--output=json",
                           "--preset=desktop", "--only-categories=performance,accessibility,best-practices",
                           "--chrome-flags=--headless=new --no-sandbox --disable-gpu"], capture_output=True, text=True,
                          env={**os.environ, "CHROME_PATH": "/usr/bin/chromium"})
    try:
        categories = json.loads(made.stdout)["categories"]
    except (ValueError, KeyError):
        print("lighthouse: not measured:", made.stderr.strip().splitlines()[-1:])
        return
    for name, category in categories.items():
        say(f"lighthouse: {name}, missing to 100", 100 - category["score"] * 100, "", 5)


def main():
    reason = browser.why_not()
    if reason:
        print(f"not measured: {reason}")
        return 0
    quick = "--quick" in sys.argv
    parts = {"visit": first_visit, "click": lambda s: click_to_paint(s, 12 if quick else 40), "flood": flood,
             "reloads": lambda s: reloads(s, 10 if quick else 100), "notebook": lambda s: notebook(s, 1000),
             "lighthouse": lighthouse, "keeper": lambda _: killed_keeper(2 if quick else 5)}
    wanted = [a for a in sys.argv[1:] if a != "--quick"]
    unknown = [a for a in wanted if a not in parts]
    if unknown:
        print(f"there is no part '{unknown[0]}': {', '.join(parts)} are accepted", file=sys.stderr)
        return 64
    with service.Service("--set", "limits.output=64m") as s:
        for _ in range(5):
            api_first_byte(s)
        for name, measure in parts.items():
            if not wanted or name in wanted:
                measure(s)
    return worst


sys.exit(main())
