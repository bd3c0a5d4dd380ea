"""The Run view of the console in a real browser (R8.3): every test acts as a person does."""

import json
import subprocess

import pytest

import browser

pytestmark = pytest.mark.release_only  # the browser takes most of the time; test_console_files has our C


@pytest.fixture(scope="module")
def tab(service):
    with browser.Browser(service) as b:
        yield b


@pytest.fixture
def page(tab):
    """A page without a draft of another test."""
    tab.open("icon.svg")  # the page saves its draft when it is left
    tab.js("localStorage.clear()")
    tab.open("#/run")
    tab.find("#run")
    return tab


def test_console_runs_a_program_and_shows_its_end(page):
    from selenium.webdriver.common.keys import Keys

    page.write("print('6 * 7 is', 6 * 7)")
    page.chord(Keys.CONTROL, Keys.ENTER)
    page.over()
    assert page.output() == "6 * 7 is 42"
    assert "Finished" in page.text(".verdict") and "Return code" in page.text(".facts")
    assert page.address().startswith("#/runs/run_")
    assert page.axe() == []


def test_console_shows_streams_apart(page):
    page.write("import sys\nprint('to out', flush=True)\nprint('to err', file=sys.stderr)")
    page.click("#run")
    page.over()
    assert page.output() == "to out\nto err" and page.text(".output .row.err") == "to err"
    page.press("stderr")
    page.until(lambda: page.output() == "to err")
    page.press("stdout")
    page.until(lambda: page.output() == "to out")


def test_console_cancels_with_the_keyboard(page):
    from selenium.webdriver.common.keys import Keys

    page.write("import time\nprint('begun', flush=True)\ntime.sleep(60)")
    page.click("#run")
    page.until(lambda: "begun" in page.output())
    page.chord(Keys.CONTROL, ".")
    page.over()
    assert "Cancelled" in page.text(".verdict")


def test_console_reload_shows_every_byte(page):
    """The state of a run is in the service, not in the tab."""
    page.write("for i in range(300): print('line', i, flush=True)\ninput()\nprint('end')")
    page.press("Input")
    page.click(".tab-body input[type=checkbox]")
    page.click("#run")
    page.until(lambda: "line 299" in page.output())
    page.driver.refresh()
    page.until(lambda: "line 299" in page.output())
    page.until(lambda: "input()" in page.program())
    page.find("#stdin").send_keys("x\n")
    page.over()
    assert page.output().endswith("end")
    page.js("document.querySelector('.output').scrollTop = 0")
    page.until(lambda: page.output().startswith("line 0\nline 1\n"))


def test_console_marks_the_faulty_line_and_applies_the_fix(page):
    page.write("numbers = [1, 2]\nprint(nmbers)")
    page.click("#run")
    page.over()
    assert "NameError" in page.text(".cause")
    page.until(lambda: page.inside(".cm-lint-marker"))
    page.press("Apply fix")
    page.until(lambda: page.program() == "numbers = [1, 2]\nprint(numbers)")
    page.click("#run")
    page.over()
    assert page.output() == "[1, 2]"


def test_console_shows_code_in_advice_as_code(page):
    page.write("print(1 / 0)")
    page.click("#run")
    page.over()
    page.until(lambda: page.text(".suggestions code") == "if divisor != 0:")
    assert "`" not in page.text(".suggestions")


def test_console_shows_the_values_at_the_failure(page):
    """They are text of the program, and nothing else."""
    def shown():
        page.write("name = '<b id=evil>x</b>'\npassword = 'hush'\nNone + name + password")
        page.choose("#language", "python")
        page.click("#run")
        page.over()
        return "as the program told them" in page.text(".cause")
    page.until(shown)
    assert "'<b id=evil>x</b>'" in page.text(".values") and "masked" in page.text(".values")
    assert "hush" not in page.text(".values") and not page.inside("#evil")


@pytest.mark.parametrize("code, fixed", [
    ("print(json.dumps([1]))", "import json\nprint(json.dumps([1]))"),
    ("import os\nprint(json.dumps([1]))", "import os\nimport json\nprint(json.dumps([1]))"),
])
def test_console_inserts_a_line_that_is_missing(page, code, fixed):
    """A suggestion that is a line to write does not replace the faulty one."""
    page.write(code)
    page.choose("#language", "python")
    page.click("#run")
    page.over()
    page.press("Apply fix")
    page.until(lambda: page.program().rstrip() == fixed)
    page.click("#run")
    page.over()
    assert page.output() == "[1]"


def test_console_draft_survives_a_crash_of_the_tab(page):
    page.write("print('a draft that nobody ran')")
    page.until(lambda: "nobody ran" in (page.js("return localStorage.getItem('belljar.draft')") or ""))
    page.open("frame.html")
    page.open("#/run")
    page.until(lambda: "nobody ran" in page.program())


def test_console_limits_have_the_bounds_of_the_service(page):
    page.press("Limits")
    page.until(lambda: "wall_ms" in page.text(".limits") and "up to 5 min" in page.text(".limits"))
    assert page.axe() == []


def test_console_says_why_a_request_was_refused(page):
    page.write("print(1)")
    page.press("Limits")
    page.find(".limit input").send_keys("99h")
    page.click("#run")
    page.over()
    assert "wall_ms" in page.text(".problem")


def test_console_does_not_fix_a_line_that_is_another_one_now(page):
    """The text was changed after the run, so the number of the line means another line."""
    page.write("numbers = [1, 2]\nprint(nmbers)")
    page.click("#run")
    page.over()
    page.until(lambda: "Apply fix" in page.text(".cause"))
    page.write("numbers = [1, 2]\nkeep(this)\nprint(nmbers)")
    page.press("Apply fix")
    page.until(lambda: "was changed since that run" in page.text(".toasts"))
    assert page.program() == "numbers = [1, 2]\nkeep(this)\nprint(nmbers)"


def test_console_fault_in_a_file_leaves_the_program_alone(page):
    """A line of another file is named, and has no button: the editor has the program alone."""
    drop(page, {"helper.py": "def f():\n    return nothing_of_that_name\n"})
    page.write("import helper\nprint('line 2')\nhelper.f()")
    page.click("#run")
    page.over()
    page.until(lambda: "helper.py:2" in page.text(".cause"))
    assert not page.inside(".cm-lint-marker") and "Apply fix" not in page.text(".cause")


SVG = "<svg xmlns='http://www.w3.org/2000/svg'><rect width='9' height='9'/></svg>"


def drop(page, files):
    """Files that a person drops on the page."""
    page.js("""
        const data = new DataTransfer();
        for (const [name, text] of Object.entries(arguments[0])) data.items.add(new File([text], name));
        const target = document.querySelector('.run-view');
        target.dispatchEvent(new DragEvent('dragover', { dataTransfer: data, bubbles: true, cancelable: true }));
        target.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
    """, files)


def type_into(page, tab, text):
    page.press(tab)
    field = page.find(".tab-body textarea")
    field.clear()
    field.send_keys(text)


def test_console_gives_everything_to_the_program(page):
    """Dropped files, arguments, variables, input, files to fetch; the language is found, and the result says how."""
    drop(page, {"data.txt": "from a file", "bytes.bin": "\0\1"})
    type_into(page, "Arguments", "first\nsecond one")
    type_into(page, "Variables", "CITY=Lima")
    type_into(page, "Input", "typed")
    page.click(".tabs button")
    assert "data.txt" in page.text(".tab-body") and "bytes.bin" in page.text(".tab-body")
    page.find(".tab-body textarea").send_keys("made.svg")
    page.write("import sys, os\nprint(sys.argv[1:], os.environ['CITY'], input(), open('data.txt').read(),"
               " len(open('bytes.bin', 'rb').read()))\n"
               f"open('made.svg', 'w').write({SVG!r})")
    page.until(lambda: "Detect (python)" in page.text("#language"))
    page.click("#run")
    page.over()
    assert page.output() == "['first', 'second one'] Lima typed from a file 2"
    assert "found by its text" in page.text(".facts") and "layer" in page.text(".facts")
    page.until(lambda: page.js("return document.querySelector('.result img.picture')?.naturalWidth > 0"))
    page.press("Isolation in detail")
    assert "seccomp" in page.text(".layers")
    page.driver.refresh()  # the request is in the service, with everything
    page.over()
    page.until(lambda: [e.text for e in page.driver.find_elements("css selector", ".count")] == ["2", "2", "1", "1"])


def test_console_network_list_is_asked_for(page):
    """This service allows no network: the refusal names the host and the setting, and the text stays."""
    page.press("Network")
    page.find(".tab-body textarea").send_keys("example.org:443")
    page.write("print(1)")
    page.click("#run")
    page.over()
    assert "network" in page.text(".problem") and page.program() == "print(1)"


def test_console_profile_and_figures(page):
    """Bars of the profile lead to their lines; a figure is an image. One option switches the other off."""
    page.write("def slow():\n    return sum(i * i for i in range(2000000))\n\nslow()")
    page.choose("#language", "python")
    page.press("Options")
    page.js("document.querySelectorAll('.options input')[0].click()")
    page.click("#run")
    page.over()
    page.until(lambda: page.has(".bars meter") and page.has(".timeline svg"))
    assert page.axe() == []
    page.write("import matplotlib.pyplot as plt\nplt.plot([1, 3, 2])\nplt.show()")
    page.js("document.querySelectorAll('.options input')[1].click()")
    assert not page.js("return document.querySelectorAll('.options input')[0].checked")
    page.click("#run")
    page.over()
    page.until(lambda: page.js("return document.querySelector('.result img.picture')?.naturalWidth > 100"))
    assert page.axe() == []


COPY = "navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); };"


def copied(page, item):
    page.js("window.copied = ''")
    page.press("Share")
    page.press(item)
    return page.until(lambda: page.js("return window.copied"))


@pytest.mark.parametrize("with_key", [False, True])
def test_console_copies_the_request_as_a_program(page, service, tmp_path, with_key):
    """The copied texts are run: each of them gets the output of the program. A key is read from the environment."""
    code = "print('it\\'s', \"\u00fc\", '$HOME `id` \\\\')"
    page.js(COPY)
    page.write(code)
    type_into(page, "Arguments", "a 'quoted' one")
    if with_key:  # this service has no keys, so it takes any
        page.js("sessionStorage.setItem('belljar.key', 'bj_not_copied')")
        page.driver.refresh()
        page.until(lambda: page.program() == code)
        page.js(COPY)
    expected = page.service.run(code, language="python")["stdout"]
    environ = {"PATH": "/usr/bin:/bin", "BELLJAR_API_KEY": "bj_not_copied"}
    for item, suffix, argv in (("Copy as curl", "sh", ["sh"]), ("Copy as Python", "py", ["python3"]),
                               ("Copy as TypeScript", "mjs", ["node"])):
        text = copied(page, item)
        assert "bj_not_copied" not in text and ("BELLJAR_API_KEY" in text) == with_key
        file = tmp_path / f"copied.{suffix}"
        file.write_text(text)
        made = subprocess.run([*argv, str(file)], capture_output=True, text=True, env=environ, timeout=60)
        assert made.returncode == 0, made.stderr
        out = json.loads(made.stdout)["stdout"] if suffix == "sh" else made.stdout
        assert expected.strip() in out, (item, out)
    page.click("#run")
    page.over()
    assert copied(page, "Copy link to this run").endswith("/console/" + page.address())
    page.js("sessionStorage.removeItem('belljar.key')")


HOSTILE = r'''
import sys
page = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script><svg onload=alert(1)>"
print(page)
print("\x1b]8;;http://evil.example/\x07link\x1b]8;;\x07 \x1b]0;owned\x07 \x1b[31mred\x1b[0m "
      "\x1b[2J\x1b[H\x1b[999A plain")
print("bidi \u202e reversed \u2066 isolate \u200b zero")
print("nul \x00 bell \x07 del \x7f")
sys.stdout.buffer.write(b"\xff\xfe broken utf-8\n")
print("x" * 20000)
'''


def test_console_shows_hostile_output_as_text(page):
    """Nothing of a program's output is executed, linked, loaded or hidden."""
    page.write(HOSTILE)
    page.click("#run")
    page.over()
    page.js("document.querySelector('.output').scrollTop = 0")
    text = page.until(lambda: page.output())
    assert "<script>document.title='owned'</script>" in text and "link  red  plain" in text
    assert "U+202E" in text and "U+200B" in text and "U+0000" in text
    assert page.js("return document.title") == "Run · Belljar"
    assert page.js("return document.querySelectorAll('.output :is(img, script, svg, a, iframe)').length") == 0
    loaded = page.js("return performance.getEntriesByType('resource').map((e) => new URL(e.name).host)")
    assert set(loaded) == {f"127.0.0.1:{page.service.port}"}


def test_console_page_of_a_program_is_sealed(page):
    """HTML of a program is shown in a frame without an origin, without access to the page, and without a network."""
    attack = ("<p id=here>the page</p><script>"
              "try { parent.document.title = 'owned' } catch { here.textContent += ' sealed' }"
              "fetch('/v1/runs').then(() => here.textContent += ' REACHED', () => here.textContent += ' cut');"
              "new Image().src = 'http://127.0.0.1:%d/v1/health?leak';"
              "</script>" % page.service.port)
    page.write(f"from IPython.display import HTML\nHTML({attack!r})")
    page.choose("#language", "python")
    page.press("Options")
    page.js("document.querySelectorAll('.options input')[1].click()")
    page.click("#run")
    page.over()
    assert not page.has("iframe")
    page.press("Show the page")
    frame = page.find("iframe")
    page.driver.switch_to.frame(frame)
    try:
        page.until(lambda: "sealed" in page.text("#here") and "cut" in page.text("#here"))
        assert page.js("return origin") == "null" and "REACHED" not in page.text("#here")
    finally:
        page.driver.switch_to.default_content()
    assert page.js("return document.title") == "Run · Belljar"


def test_console_commands_by_name(page):
    from selenium.webdriver.common.keys import Keys

    page.chord(Keys.CONTROL, "k")
    page.find(".palette input")
    assert page.axe() == []
    page.keys("go to hist", Keys.ENTER)
    page.until(lambda: page.address() == "#/history")


def test_console_key_is_asked_for_once(start_service):
    s = start_service()
    key = s.post("/v1/keys", {"name": "k", "scopes": ["admin"]}).json["key"]
    with browser.Browser(s) as b:
        b.open("#/run")
        b.find(".dialog input").send_keys("wrong\n")
        b.until(lambda: "not accepted" in b.text(".dialog"))
        field = b.find(".dialog input")
        b.js("arguments[0].select()", field)
        field.send_keys(key + "\n")
        b.until(lambda: not b.has(".dialog"))
        b.write("print('with a key')")
        b.click("#run")
        b.over()
        assert b.output() == "with a key" and key not in b.page()
        assert s.get("/v1/runs").status == 401


def test_console_draws_only_the_visible_lines(page):
    """A program that prints without end must not fill the document or the memory."""
    page.write("for i in range(200000): print(i)")
    page.click("#run")
    page.over()
    assert page.until(lambda: page.output().endswith("\n199999"))
    assert page.js("return document.querySelectorAll('.output .row').length") < 150
    page.js("document.querySelector('.output').scrollTop = 100000 * 20")
    page.until(lambda: "\n100000\n" in page.output())
    assert page.js("return document.querySelectorAll('.output .row').length") < 150
