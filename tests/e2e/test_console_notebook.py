"""Notebooks of the console in a real browser (R8.3): every test acts as a person does."""

import json

import pytest

import browser

pytestmark = pytest.mark.release_only  # the browser takes most of the time


@pytest.fixture(scope="module")
def tab(service):
    with browser.Browser(service) as b:
        yield b


def type_cell(tab, code):
    """Replaces the text of the cell that is being edited."""
    from selenium.webdriver.common.keys import Keys

    inside = "document.querySelector('.cell-editor')?.shadowRoot?.querySelector('.cm-content')"
    tab.until(lambda: tab.js(f"return !!{inside}"))
    tab.js(f"{inside}.focus()")
    tab.chord(Keys.CONTROL, "a")
    tab.cdp("Input.insertText", text=code)


class Notebook:
    """One session on the page."""

    def __init__(self, tab, **body):
        self.tab, self.service = tab, tab.service
        self.id = self.service.post("/v1/sessions", {"language": "python", **body}).json["id"]
        self.path = f"/v1/sessions/{self.id}"

    def exec(self, code):
        reply = self.service.post(f"{self.path}/exec", {"code": code})
        assert reply.status == 200, reply
        return reply.json

    def open(self, rest=""):
        self.tab.open("icon.svg")  # a page of its own: the next address is loaded anew
        self.tab.open(f"#/sessions/{self.id}{rest}")
        self.tab.find(".cell, .tree, .candidate")
        return self

    def count(self):
        return self.tab.js("return document.querySelectorAll('.cell').length")

    def edit(self, code):
        type_cell(self.tab, code)

    def cell(self, n):
        """The text of the outputs of a cell, and the state of its run."""
        return self.tab.js("const c = document.querySelectorAll('.cell')[arguments[0]]; return c ? "
                           "{ out: c.querySelector('.cell-out')?.innerText ?? '', phase: c.dataset.phase, "
                           "status: c.dataset.status, undone: c.classList.contains('undone') } : null", n)

    def over(self, n, text=""):
        def done():
            cell = self.cell(n)
            return cell and cell["phase"] == "over" and text in cell["out"] and cell
        return self.tab.until(done)


@pytest.fixture
def book(tab):
    made = []

    def start(**body):
        made.append(Notebook(tab, **body))
        return made[-1]

    yield start
    tab.open("icon.svg")
    tab.js("localStorage.clear()")
    for one in made:
        one.service.delete(one.path)


def test_console_makes_a_notebook_with_the_keyboard(tab):
    """New notebook, a cell with Shift+Enter, the next one with Ctrl+Enter: no pointer is needed."""
    from selenium.webdriver.common.keys import Keys

    tab.open("#/sessions")
    tab.find(".page-head")
    assert tab.axe() == []
    tab.chord(Keys.CONTROL, "k")
    tab.find(".palette input")
    tab.keys("new notebook", Keys.ENTER)
    tab.find(".dialog select")
    assert tab.axe() == []
    tab.keys(Keys.TAB, "by-keys", Keys.ENTER)
    tab.find(".cell-editor")
    tab.until(lambda: tab.js("return document.activeElement?.className") == "cell-editor")
    tab.keys("x = 6 * 7")
    tab.chord(Keys.SHIFT, Keys.ENTER)
    tab.until(lambda: tab.js("return document.querySelectorAll('.cell').length") == 2)
    tab.until(lambda: "[1]" in tab.text(".cell-number"))
    tab.keys("x")
    tab.chord(Keys.CONTROL, Keys.ENTER)
    tab.until(lambda: "42" in tab.text(".cell:nth-of-type(2) .cell-out"))
    tab.until(lambda: "int" in tab.text(".variables"))
    tab.keys(Keys.ESCAPE)
    tab.until(lambda: tab.js("return document.activeElement?.classList.contains('cell-code')"))
    tab.keys(Keys.ARROW_UP)
    tab.until(lambda: "Cell 1" in tab.js("return document.activeElement?.ariaLabel ?? ''"))
    tab.open("#/sessions")
    tab.press("End by-keys")
    tab.press("End the session")
    tab.until(lambda: "by-keys" not in tab.page())


RICH = """
import matplotlib.pyplot as plt
plt.plot([1, 3, 2]); plt.show()
from IPython.display import HTML, display
display(HTML("<b id=here>bold</b><script>try { parent.document.title = 'owned' }"
             "catch { here.append(' sealed') }</script>"))
print("<img src=x onerror=alert(1)> \\u202e")
"""


def test_console_notebook_has_rich_outputs(tab, book):
    nb = book()
    nb.exec(RICH)
    nb.exec("import pandas as pd\npd.DataFrame({'a': [1, 2]})")
    nb.exec("numbers = [1]\nnmbers")
    nb.open()
    first = nb.over(0, "<img src=x onerror=alert(1)>")
    assert "U+202E" in first["out"]
    assert tab.find("img.picture").get_attribute("src").startswith("blob:")
    assert "0  1" in nb.over(1)["out"]
    assert not tab.has("iframe") and not tab.has(".cell-out script")
    assert "NameError" in nb.over(2)["out"]
    for theme in ("light", "dark"):
        tab.js("document.documentElement.dataset.theme = arguments[0]", theme)
        assert tab.axe() == []
    tab.press("Show the page")
    tab.driver.switch_to.frame(tab.find("iframe"))
    try:
        tab.until(lambda: "sealed" in tab.text("#here"))
    finally:
        tab.driver.switch_to.default_content()
    tab.press("Apply fix")
    tab.until(lambda: "numbers = [1]\nnumbers" in tab.js(
        "return [...document.querySelectorAll('.cell-code')].map((e) => e.textContent).join('|')"))


def test_console_notebook_is_whole_after_a_reload(tab, book):
    """Output, a question of input(), and drafts: a reload in the middle of a cell loses nothing."""
    from selenium.webdriver.common.keys import Keys

    nb = book().open()
    nb.edit("for i in range(300): print('line', i)\nname = input('who? ')\nprint('hello', name)")
    tab.chord(Keys.CONTROL, Keys.ENTER)
    tab.find(".ask input")
    tab.driver.refresh()
    tab.find(".ask input").send_keys("reader\n")
    nb.over(0, "hello reader")
    assert nb.exec("name")["result"] == {"text/plain": "'reader'"}
    tab.until(lambda: nb.count() == 3)  # the cell of another client is here, too
    tab.js("document.querySelector('.output').scrollTop = 0")
    tab.until(lambda: nb.cell(0)["out"].startswith("line 0\nline 1\n"))


def test_console_notebook_interrupts_a_cell(tab, book):
    from selenium.webdriver.common.keys import Keys

    nb = book().open()
    nb.edit("import time\nprint('begun', flush=True)\ntime.sleep(60)")
    tab.chord(Keys.CONTROL, Keys.ENTER)
    tab.until(lambda: "begun" in nb.cell(0)["out"])
    tab.chord(Keys.CONTROL, ".")
    assert nb.over(0)["status"] == "interrupted"


def test_console_notebook_completes_and_explains(tab, book):
    from selenium.webdriver.common.keys import Keys

    nb = book()
    nb.exec("quantity = 3")
    nb.open()
    inside = "document.querySelector('.cell-editor')?.shadowRoot"
    tab.until(lambda: tab.js(f"return !!{inside}"))
    nb.edit("quan")
    tab.chord(Keys.CONTROL, " ")
    tab.until(lambda: "quantity" in tab.js(f"return {inside}.querySelector('.cm-tooltip')?.innerText ?? ''"))
    # The list reaches over the edge of the cell, and nothing covers it or cuts it off.
    tab.until(lambda: tab.js(
        f"const list = {inside}.querySelector('.cm-tooltip'), box = list.getBoundingClientRect();"
        f"const at = {inside}.elementFromPoint(box.x + box.width / 2, box.bottom - 5); return list.contains(at)"))
    tab.keys(Keys.ESCAPE)
    nb.edit("len")
    tab.chord(Keys.CONTROL, "i")
    tab.until(lambda: "Return the number of items" in tab.text(".help"))


def test_console_sleeping_session_wakes_by_a_click(tab, book):
    nb = book(name="sleeper")
    nb.exec("kept = 5")
    assert nb.service.post(f"{nb.path}/sleep", {}).json["state"] == "sleeping"
    nb.open()
    tab.until(lambda: "Asleep" in tab.page() and "on the disk" in tab.page())
    assert nb.service.get(nb.path).json["state"] == "sleeping"  # a look does not wake it
    tab.press("Wake")
    tab.until(lambda: "kept" in tab.text(".variables"))


def test_console_notebook_is_imported_and_exported(tab, tmp_path):
    cells = [{"cell_type": "markdown", "source": ["# A title"]},
             {"cell_type": "code", "source": ["a = 1\n", "a + 1"], "outputs": []}]
    file = tmp_path / "from elsewhere.ipynb"
    file.write_text(json.dumps({"nbformat": 4, "metadata": {"language_info": {"name": "python"}}, "cells": cells}))
    tab.open("#/sessions")
    tab.find("input[type=file]").send_keys(str(file))
    tab.find(".book")
    tab.until(lambda: tab.js("return document.querySelectorAll('.cell').length") == 3)
    tab.until(lambda: tab.text(".cell-code.prose") == "# A title")
    tab.press("More")
    tab.press("Run all cells")
    tab.until(lambda: "2" in tab.text(".cell-out"))
    type_cell(tab, "never_ran = True")
    tab.js("URL.createObjectURL = (blob) => (blob.text().then((t) => window.saved = t), 'blob:none');"
           "HTMLAnchorElement.prototype.click = function () { window.savedAs = this.download }")
    tab.press("More")
    tab.press("Export .ipynb")
    saved = json.loads(tab.until(lambda: tab.js("return window.saved")))
    assert saved["nbformat"] == 4
    assert [(c["cell_type"], "".join(c["source"])) for c in saved["cells"]] == [
        ("markdown", "# A title"), ("code", "a = 1\na + 1"), ("code", "never_ran = True")]
    assert saved["cells"][1]["outputs"][0]["data"] == {"text/plain": "2"} and saved["cells"][2]["outputs"] == []
    assert tab.js("return window.savedAs") == "from-elsewhere.ipynb"
    tab.service.delete("/v1/sessions/" + tab.address().split("/")[-1])


def test_console_notebook_of_a_thousand_cells_has_one_editor(tab, book):
    """Cells off the screen have neither an editor nor outputs in the document."""
    nb = book()
    nb.open()
    kept = [{"c": f"# cell {i}\nvalue_{i} = {i}"} for i in range(1000)]
    tab.open("icon.svg")
    tab.js("localStorage.setItem(arguments[0], arguments[1])", f"belljar.book.{nb.id}", json.dumps(kept))
    nb.open()
    tab.until(lambda: nb.count() == 1001)
    tab.find(".cell-editor")
    assert tab.js("return document.querySelectorAll('.cell-editor').length") == 1
    assert tab.js("return document.querySelectorAll('.cell-code span').length") < 1000


def test_console_notebook_lays_out_cells_in_groups(tab, book):
    """A keystroke does not pay for every cell, and a new cell in the middle leaves all others where they are."""
    nb = book()
    nb.open()
    tab.open("icon.svg")
    tab.js("localStorage.setItem(arguments[0], arguments[1])", f"belljar.book.{nb.id}",
           json.dumps([{"c": f"# cell {i}"} for i in range(100)]))
    nb.open()
    tab.until(lambda: nb.count() == 101)
    sizes = tab.js("return [...document.querySelectorAll('.nb-cells, .cells')].map((e) => e.children.length)")
    assert max(sizes) < 30
    tab.js("window.before = [...document.querySelectorAll('.cell')]")
    for name in ("Cell 20", "Cell 21", "Cell 22"):  # both sides of the border between two groups
        tab.js("arguments[0].click()", tab.named(f"New cell below {name}"))  # the head of the page may cover it
    tab.until(lambda: nb.count() == 104)
    assert tab.js("return window.before.every((e) => e.isConnected)")
    labels = tab.js("return [...document.querySelectorAll('.cell')].map((e) => e.getAttribute('aria-label'))")
    assert labels == [f"Cell {i}" for i in range(1, 105)]


def test_console_tree_is_walked_by_arrow_keys(tab, book):
    """Checkpoint, fork from it and go back, without a pointer; the drawing has every state."""
    from selenium.webdriver.common.keys import Keys

    nb = book(name="origin", undo=2)
    nb.exec("a = 1")
    nb.service.post(f"{nb.path}/checkpoints", {"name": "loaded"})
    nb.exec("a = 2")
    nb.open("/tree")
    chosen = "document.querySelector('.tree [aria-selected=true]')"
    tab.until(lambda: "Present state of origin" in tab.js(f"return {chosen}?.ariaLabel ?? ''"))
    for theme in ("light", "dark"):
        tab.js("document.documentElement.dataset.theme = arguments[0]", theme)
        assert tab.axe() == []
    tab.js(f"{chosen}.focus()")

    def left_to(name):
        for _ in range(6):
            if name in tab.js(f"return {chosen}.ariaLabel"):
                return
            tab.keys(Keys.ARROW_LEFT)
        raise AssertionError(tab.js(f"return {chosen}.ariaLabel"))

    left_to("Checkpoint loaded")
    tab.until(lambda: "a = 2" in tab.text("[aria-label='Cells after this state']"))
    tab.keys(Keys.TAB)
    tab.until(lambda: tab.js("return document.activeElement.innerText") == "Go back here")
    tab.keys(Keys.ENTER)
    tab.until(lambda: nb.service.get(nb.path).json["at_cell"] == 1)
    assert nb.exec("a")["result"] == {"text/plain": "1"}
    tab.press("Fork from here")
    tab.until(lambda: len(nb.service.get(f"{nb.path}/tree").json["sessions"]) == 2)
    tab.until(lambda: tab.js("return document.querySelectorAll('.tree .node.now').length") == 2)
    tab.js(f"{chosen}.focus()")
    tab.keys(Keys.ARROW_DOWN)
    tab.until(lambda: "origin" not in tab.text(".tree-details h2"))
    tab.until(lambda: "Variables that differ" in tab.text(".tree-details"))
    copy = [s for s in nb.service.get(f"{nb.path}/tree").json["sessions"] if s["parent"]][0]["id"]
    nb.service.delete(f"/v1/sessions/{copy}")


def test_console_tree_shows_the_difference_to_a_checkpoint(tab, book):
    """Cells, variables and files of a checkpoint beside the present state; the copy that was asked is gone."""
    nb = book()
    nb.exec("kept = 1; changed = 'before'; open('data.csv', 'w').write('a')")
    nb.service.post(f"{nb.path}/checkpoints", {"name": "early"})
    nb.exec("changed = 'after'; added = [1]; open('data.csv', 'w').write('ab'); open('new.txt', 'w').write('')")
    nb.open("/tree")
    tab.js("[...document.querySelectorAll('.tree .node')].find((n) => n.ariaLabel.includes('Checkpoint early'))"
           ".dispatchEvent(new MouseEvent('click', { bubbles: true }))")
    tab.until(lambda: "changed = 'after'" in tab.text("[aria-label='Cells after this state']"))
    variables = tab.until(lambda: tab.text("[aria-label='Variables that differ']"))
    assert "changed here 'after', there 'before'" in variables and "added only here" in variables
    assert "kept" not in variables
    files = tab.text("[aria-label='Files that differ']")
    assert "data.csv here 2 B" in files and "there 1 B" in files and "new.txt only here" in files
    tab.until(lambda: [s["state"] for s in nb.service.get(f"{nb.path}/tree").json["sessions"]] == ["idle", "ended"])
    assert tab.js("return document.querySelectorAll('.tree .node').length") == 3  # it is not in the drawing
    assert tab.axe() == []


def test_console_notebook_undoes_a_cell(tab, book):
    nb = book(undo=2)
    nb.exec("b = 1")
    nb.exec("b = 2")
    nb.open()
    nb.over(1)
    tab.press("Undo")
    tab.until(lambda: nb.cell(1)["undone"])
    tab.until(lambda: "1" in tab.text(".variables"))
    assert nb.exec("b")["result"] == {"text/plain": "1"}


def test_console_branches_run_side_by_side_and_one_is_adopted(tab, book):
    nb = book()
    nb.exec("seed = 20")
    nb.open("/branches")
    for i, code in enumerate(("value = seed + 1\nvalue", "value = seed + 2\nvalue")):
        tab.until(lambda: tab.js("return document.querySelectorAll('.candidate-code').length") > i)
        tab.js("document.querySelectorAll('.candidate-code')[arguments[0]].shadowRoot"
               ".querySelector('.cm-content').focus()", i)
        tab.cdp("Input.insertText", text=code)
    tab.press("▶ Run 2 candidates")
    tab.until(lambda: tab.js("return document.querySelectorAll('.candidate[data-state=ok]').length") == 2)
    for n, text in ((1, "21"), (2, "22")):  # the rows are painted in a later frame than the state
        tab.until(lambda: text in tab.text(f".candidate:nth-of-type({n}) .cell-out"))
    assert nb.service.get(nb.path).json["cells"] == 1  # nothing is adopted yet
    cells = len(nb.service.get("/v1/runs?limit=1000").json["runs"])
    for theme in ("light", "dark"):
        tab.js("document.documentElement.dataset.theme = arguments[0]", theme)
        assert tab.axe() == []
    tab.press("Adopt Candidate 2")
    tab.until(lambda: tab.has(".candidate.won"))
    assert len(nb.service.get("/v1/runs?limit=1000").json["runs"]) == cells  # no candidate ran again
    assert nb.exec("value")["result"] == {"text/plain": "22"}
