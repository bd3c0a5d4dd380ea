"""A real browser for the tests of the console: Debian's Chromium, driven by its own chromedriver over selenium.

    with Browser(service) as b:
        b.open("#/run")
        b.click("#run")
        assert b.until(lambda: "42" in b.text(".output"))

Every wait is for a condition. A browser notes each violation of the page's policy and each error of its scripts;
Browser.finish() asserts that there were none.
"""

import shutil
import tempfile
import time
from pathlib import Path

import pytest

from harness import PATIENCE

AXE = Path(__file__).resolve().parents[2] / "console/node_modules/axe-core/axe.min.js"
WAIT_S = 20 * PATIENCE

# In every document before its own scripts. The list of problems survives a reload within the origin.
WATCH = """
addEventListener('securitypolicyviolation', (e) => {
  const all = JSON.parse(sessionStorage.getItem('problems') ?? '[]');
  all.push(`policy: ${e.violatedDirective} ${e.blockedURI} ${e.sample}`);
  sessionStorage.setItem('problems', JSON.stringify(all));
});
for (const name of ['error', 'unhandledrejection']) addEventListener(name, (e) => {
  const text = String(e.message ?? e.reason);
  if (text.includes('ResizeObserver loop')) return;
  const all = JSON.parse(sessionStorage.getItem('problems') ?? '[]');
  all.push(`${name}: ${text}`);
  sessionStorage.setItem('problems', JSON.stringify(all));
});
"""


def why_not():
    """The reason why there is no browser here, or None."""
    if not shutil.which("chromium") or not shutil.which("chromedriver"):
        return "needs Debian's chromium and chromium-driver"
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "needs python3-selenium"
    return None


class Browser:
    def __init__(self, service, width=1280, height=800, dark=False, args=(), trace=None):
        reason = why_not()
        if reason:
            pytest.skip(reason)
        from selenium import webdriver
        from selenium.webdriver.chrome.options import Options
        from selenium.webdriver.chrome.service import Service as Driver

        self.service = service
        self.base = f"http://127.0.0.1:{service.port}/console/"
        self.profile = tempfile.mkdtemp(prefix="belljar-test-browser-")
        options = Options()
        options.binary_location = shutil.which("chromium")
        # Chromium's own sandbox refuses root. The pages here are ours.
        for arg in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                    "--disable-background-networking", "--disable-component-update", "--disable-sync",
                    "--disable-default-apps", "--disable-extensions", f"--user-data-dir={self.profile}",
                    f"--window-size={width},{height}", *args):
            options.add_argument(arg)
        if dark:
            options.add_argument("--force-dark-mode")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        if trace:  # categories; get_log("performance") has the events
            options.add_experimental_option("perfLoggingPrefs", {"traceCategories": trace})
        self.driver = webdriver.Chrome(service=Driver(shutil.which("chromedriver")), options=options)
        self.driver.set_script_timeout(WAIT_S)
        self.cdp("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
        if dark:
            self.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        try:
            if kind is None:
                self.finish()
        finally:
            self.driver.quit()
            shutil.rmtree(self.profile, ignore_errors=True)

    def cdp(self, command, **parameters):
        return self.driver.execute_cdp_cmd(command, parameters)

    def open(self, fragment=""):
        self.driver.get(self.base + fragment)
        return self

    def js(self, script, *args):
        return self.driver.execute_script(script, *args)

    def until(self, condition, within=WAIT_S):
        """Waits until the condition holds. An element that is replaced meanwhile is looked for again."""
        from selenium.common.exceptions import WebDriverException

        deadline, problem = time.monotonic() + within, None
        while time.monotonic() < deadline:
            try:
                value = condition()
                if value:
                    return value
            except WebDriverException as e:
                problem = e
            time.sleep(0.02)
        raise AssertionError(f"not within {within} s; {problem or ''}\n{self.page()}")

    def page(self):
        return self.js("return document.body.innerText")[:3000]

    def find(self, css):
        return self.until(lambda: self.driver.find_elements("css selector", css))[0]

    def has(self, css):
        return bool(self.driver.find_elements("css selector", css))

    def named(self, text, css="button, a, summary, option, label"):
        """The element with exactly this text or label."""
        return self.until(lambda: self.js(
            "return [...document.querySelectorAll(arguments[1])].find((e) => e.checkVisibility() && "
            "(e.innerText.trim() === arguments[0] || e.getAttribute('aria-label') === arguments[0]))", text, css))

    def click(self, css):
        self.until(lambda: self.find(css).click() or True)

    def press(self, text, css="button, a, summary, option, label"):
        self.until(lambda: self.named(text, css).click() or True)

    def choose(self, css, value):
        """An option of a list."""
        self.until(lambda: self.js(
            "const list = document.querySelector(arguments[0]); list.value = arguments[1];"
            "list.dispatchEvent(new Event('change', { bubbles: true })); return list.value === arguments[1]",
            css, value))

    def text(self, css):
        return self.js("return document.querySelector(arguments[0])?.innerText ?? ''", css)

    def keys(self, *keys):
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    def chord(self, modifier, key):
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.driver).key_down(modifier).send_keys(key).key_up(modifier).perform()

    def write(self, code, scope=".editor"):
        """Replaces the program in the editor, as a person who pastes does."""
        from selenium.webdriver.common.keys import Keys

        self.until(lambda: self.inside(".cm-content", scope))
        self.js("document.querySelector(arguments[0]).shadowRoot.querySelector('.cm-content').focus()", scope)
        self.chord(Keys.CONTROL, "a")
        self.cdp("Input.insertText", text=code)
        self.until(lambda: self.program(scope).rstrip() == code.rstrip())

    def inside(self, css, scope=".editor"):
        """Whether the editor has such an element."""
        return self.js("return !!document.querySelector(arguments[1])?.shadowRoot?.querySelector(arguments[0])", css,
                       scope)

    def program(self, scope=".editor"):
        """The text of the editor, if it fits the window."""
        return self.js("return [...document.querySelector(arguments[0]).shadowRoot.querySelectorAll('.cm-line')]"
                       ".map((e) => e.textContent).join('\\n')", scope)

    def output(self):
        return self.js("return [...document.querySelectorAll('.output .row')].map((e) => e.textContent).join('\\n')")

    def phase(self):
        return self.js("return document.querySelector('.screen')?.dataset.phase")

    def over(self):
        """Waits for the end of the run, and until it is painted."""
        self.until(lambda: self.phase() == "over")
        self.driver.execute_async_script(
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))")

    def settle(self):
        """Waits until nothing is loaded any more and the page stopped changing."""
        def still():
            before = self.js("return document.body.innerHTML.length + performance.getEntriesByType('resource').length")
            time.sleep(0.4)
            return before == self.js(
                "return document.body.innerHTML.length + performance.getEntriesByType('resource').length")

        try:
            self.until(still, 3)
        except AssertionError:
            pass  # a view that changes every second

    def address(self):
        return self.js("return location.hash")

    def problems(self):
        return self.js("return JSON.parse(sessionStorage.getItem('problems') ?? '[]')")

    def finish(self):
        problems = self.problems()
        assert problems == [], problems

    def axe(self):
        """The violations of WCAG 2.2 A and AA, one line each."""
        if not AXE.exists():
            pytest.skip("needs axe-core (scripts/console-deps)")
        self.js(AXE.read_text() + "; window.axe = axe")
        result = self.driver.execute_async_script(
            "const done = arguments[0]; axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa',"
            "'wcag22aa'] }).then((r) => done(r.violations.map((v) => `${v.id}: "
            "${v.nodes.map((n) => n.target).slice(0, 3).join(' | ')} ${v.nodes[0].failureSummary}`)))")
        return result
