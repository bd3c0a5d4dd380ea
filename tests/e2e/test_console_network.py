"""The console over a bad network, with a wrong clock, and without a service (R8.3): a sentence, and no lost text."""

import pytest

import browser
from harness import SOAK
from slow_link import SlowLink

pytestmark = pytest.mark.release_only  # the browser takes most of the time

# The clock of the browser is wrong by `shift` milliseconds.
SHIFT = """
const Real = Date, shift = Number(sessionStorage.getItem('shift'));
globalThis.Date = class extends Real {
  constructor(...a) { a.length ? super(...a) : super(Real.now() + shift); }
  static now() { return Real.now() + shift; }
};
"""


@pytest.fixture(scope="module")
def tab(service):
    with browser.Browser(service) as b:
        yield b


@pytest.fixture
def at(tab):
    """The browser, which sees the service at this port. Its storage is that of a new browser."""
    def look(port):
        tab.base = f"http://127.0.0.1:{port}/console/"
        return tab

    yield look
    tab.finish()


def bar(b):
    return b.text(".offline")


def test_console_over_a_slow_network(service, at):
    """Half a second for each answer: the page says that it loads, a second click starts nothing, nothing is lost."""
    with SlowLink(service.port, latency=0.25, rate=400_000) as link:
        b = at(link.port)
        before = len(service.get("/v1/runs?limit=1000").json["runs"])
        b.open("#/run")
        b.write("import time\nfor i in range(12): print('line', i, flush=True); time.sleep(0.01)")
        b.js("document.querySelector('#run').click(); document.querySelector('#run, #cancel')?.focus()")
        b.until(lambda: b.phase() == "sending")
        b.js("document.querySelector('#run')?.click()")  # an impatient person
        b.over()
        b.until(lambda: b.output() == "\n".join(f"line {i}" for i in range(12)))
        assert len(service.get("/v1/runs?limit=1000").json["runs"]) == before + 1
        b.js("location.hash = '#/history'")
        b.until(lambda: b.has(".loading"))
        b.until(lambda: b.has(".grid tbody tr"))


def test_console_says_that_an_answer_takes_long(service, at):
    """A cable is pulled: connections stay open and are silent. The person is told, can give up, and loses no text."""
    with SlowLink(service.port) as link:
        b = at(link.port)
        b.open("#/run")
        b.write("print('kept text')")
        b.settle()
        link.cut = True
        b.click("#run")
        b.until(lambda: "takes long to answer" in bar(b))
        assert b.axe() == []
        b.click("#cancel")
        b.until(lambda: "Cancelled before the service answered" in b.text(".problem"))
        assert b.program() == "print('kept text')"
        link.cut = False
        b.until(lambda: not b.has(".offline"))
        b.click("#run")
        b.over()
        b.until(lambda: b.output() == "kept text")


@pytest.mark.skipif(not SOAK, reason="takes a minute: it is in the group soak")
def test_console_leaves_a_silent_connection(service, at):
    """The service says something every 15 s. The page opens another connection if it hears nothing for 40 s."""
    run_id = service.run("import time\nprint('begun', flush=True)\ntime.sleep(100)", wait=False, status=202,
                         limits={"wall_ms": "2m"})["id"]
    with SlowLink(service.port) as link:
        b = at(link.port)
        b.open(f"#/runs/{run_id}")
        b.until(lambda: "begun" in b.output())
        link.cut = True
        b.until(lambda: "does not answer" in bar(b) or "Reconnecting" in b.page(), 60)
        link.cut = False
        b.until(lambda: not b.has(".offline"))
        service.delete(f"/v1/runs/{run_id}")
        b.over()
        assert "Cancelled" in b.text(".verdict")


def test_console_with_a_clock_that_is_wrong(service, at):
    """Ages and deadlines are by the clock of the service: nothing is expired, or from the future."""
    run_id = service.run("print('clock')")["id"]
    b = at(service.port)
    script = b.cdp("Page.addScriptToEvaluateOnNewDocument", source=SHIFT)["identifier"]
    for hours in (30, -30):
        asked = service.post("/v1/runs", {"language": "bash", "code": "echo by its clock", "permission_mode": "default",
                                          "wait": False}).json
        b.open("icon.svg")
        b.js("sessionStorage.setItem('shift', arguments[0])", str(hours * 3600000))
        b.open("#/history")
        b.until(lambda: b.has(f'a[href="#/runs/{run_id}"]'))
        ages = b.js("return [...document.querySelectorAll('.grid tbody td:nth-child(5)')].map((e) => e.innerText)")
        assert ages and not any("h ago" in a or "d ago" in a for a in ages), ages
        b.open("#/approvals/" + asked["approval"]["id"])
        b.until(lambda: b.text(".dialog .countdown").startswith("4 min"))
        b.until(lambda: b.js("return document.querySelector('#execute')?.disabled === false"))
        b.click("#execute")
        assert service.finished(asked["id"])["stdout"] == "by its clock\n"
    b.cdp("Page.removeScriptToEvaluateOnNewDocument", identifier=script)


def test_console_without_a_service(start_service, at):
    """The service is stopped: a bar says so in every view, the text stays. It comes back, and the page goes on."""
    s = start_service()
    port = s.port
    b = at(port)
    b.open("#/run")
    b.write("print('typed before the stop')")
    b.settle()
    s.stop()
    b.click("#run")
    b.until(lambda: "does not answer" in bar(b))
    b.until(lambda: "does not answer" in b.text(".problem"))
    b.js("location.hash = '#/history'")  # this part of the page was never loaded
    b.until(lambda: "did not load" in b.text(".problem") or "does not answer" in b.text(".problem"))
    b.js("location.hash = '#/run'")
    b.until(lambda: b.inside(".cm-content"))
    assert b.program() == "print('typed before the stop')" and b.axe() == []
    s.listen = (f"127.0.0.1:{port}",)
    s.start()
    b.until(lambda: not b.has(".offline"))
    b.click("#run")
    b.over()
    b.until(lambda: b.output() == "typed before the stop")


def test_console_two_tabs_and_the_back_button(service, at):
    """A tab keeps its text, the draft of the other one can be brought back, and back leads to the run before."""
    b = at(service.port)
    b.open("#/run")
    b.write("print('first tab')")
    first = b.driver.current_window_handle
    b.driver.switch_to.new_window("tab")
    b.cdp("Page.addScriptToEvaluateOnNewDocument", source=browser.WATCH)
    b.open("#/run")
    b.write("print('second tab')")
    b.until(lambda: "second tab" in (b.js("return localStorage.getItem('belljar.draft')") or ""))
    assert "first tab" in b.js("return localStorage.getItem('belljar.drafts')")  # the first tab could die now
    b.driver.close()
    b.driver.switch_to.window(first)
    assert b.program() == "print('first tab')"  # a tab never loses its text to another one
    runs = [service.run(f"print('run {i}')")["id"] for i in range(2)]
    for run_id in runs:
        b.js("location.hash = arguments[0]", f"#/runs/{run_id}")
        b.over()
    b.until(lambda: b.output() == "run 1" and "run 1" in b.program())
    b.driver.back()
    b.until(lambda: b.output() == "run 0" and "run 0" in b.program())
    b.js("location.hash = '#/history'")
    b.until(lambda: b.has(".grid tbody tr"))
    b.driver.back()
    b.until(lambda: b.inside(".cm-content") and b.output() == "run 0")
    assert "first tab" in b.js("return localStorage.getItem('belljar.drafts')")


def test_console_notebook_in_two_tabs_keeps_both_drafts(service, at):
    """Each tab keeps its own draft of the same session, and a reload has both."""
    b = at(service.port)
    session = service.post("/v1/sessions", {"language": "bash"}).json["id"]
    first = b.driver.current_window_handle
    b.open("icon.svg")
    b.open(f"#/sessions/{session}")
    b.until(lambda: b.inside(".cm-content", ".cell-editor"))
    b.driver.switch_to.new_window("tab")
    b.cdp("Page.addScriptToEvaluateOnNewDocument", source=browser.WATCH)
    b.open(f"#/sessions/{session}")
    kept = f"return localStorage.getItem('belljar.book.{session}') ?? ''"
    for text in ("echo of the second tab", "echo of the first tab"):
        b.until(lambda: b.inside(".cm-content", ".cell-editor"))
        b.js("document.querySelector('.cell-editor').shadowRoot.querySelector('.cm-content').focus()")
        b.cdp("Input.insertText", text=text)
        b.until(lambda: text in b.js(kept))
        if "second" in text:
            b.driver.switch_to.window(first)
    assert "second tab" in b.js(kept) and "first tab" in b.js(kept)
    b.driver.refresh()
    b.until(lambda: "second tab" in b.page())
    service.delete(f"/v1/sessions/{session}")
    for handle in b.driver.window_handles:
        if handle != first:
            b.driver.switch_to.window(handle)
            b.driver.close()
    b.driver.switch_to.window(first)
