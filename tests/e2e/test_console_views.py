"""History, approvals, languages, statistics and keys of the console in a real browser (R8.3)."""

import json
import os
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

import browser
from harness import eventually

pytestmark = pytest.mark.release_only


@pytest.fixture(scope="module")
def tab(service):
    with browser.Browser(service) as b:
        yield b


def ask(service, code, language="bash", **more):
    """A run that waits for an approval: its id, and that of the request."""
    reply = service.post("/v1/runs", {"language": language, "code": code, "permission_mode": "default", "wait": False,
                                      **more})
    assert reply.status == 202, reply
    return reply.json["id"], reply.json["approval"]["id"]


def result(service, run_id):
    return eventually(lambda: (r := service.get(f"/v1/runs/{run_id}").json).get("verdict") and r, 20)


def open_request(tab, approval):
    tab.open("#/approvals/" + approval)
    tab.find(".dialog #execute")
    tab.until(lambda: tab.js("return !document.querySelector('#execute').disabled"))


# ---- history ----


def test_console_history_finds_compares_and_repeats_runs(tab, service):
    first = service.run("print('alpha needle')")["id"]
    second = service.run("print('beta needle')")["id"]
    service.run("echo other", language="bash")
    tab.open("#/history")
    tab.until(lambda: tab.has(f'a[href="#/runs/{first}"]') and tab.has(f'a[href="#/runs/{second}"]'))
    assert tab.axe() == []
    tab.find("input[type=search]").send_keys("needle")
    tab.until(lambda: "bash" not in tab.text(".grid tbody") and "python" in tab.text(".grid tbody"))
    for run_id in (second, first):
        tab.click(f'input[aria-label="Compare {run_id}"]')
    tab.press("Compare two runs")
    tab.until(lambda: tab.js(
        "return document.querySelector('.merge')?.shadowRoot?.textContent.includes('beta needle')"))
    assert tab.address() == f"#/history/compare/{first}/{second}" and tab.axe() == []
    tab.open("#/history")
    tab.click(f'button[aria-label="Run {first} again"]')
    tab.until(lambda: tab.address().startswith("#/runs/") and first not in tab.address())
    tab.over()
    assert tab.output() == "alpha needle"
    tab.until(lambda: "alpha needle" in tab.program())


def test_console_history_without_a_match_says_so(tab, service):
    tab.open("#/history")
    tab.find("input[type=search]").send_keys("no program has this text")
    tab.until(lambda: "No run fits" in tab.page())


def test_console_compares_two_runs_with_the_keyboard_alone(tab, service):
    from selenium.webdriver.common.keys import Keys

    runs = [service.run(f"print('keyboard {i}')")["id"] for i in range(2)]
    tab.open("icon.svg")
    tab.open("#/history")
    for run_id in runs:
        tab.find(f'input[aria-label="Compare {run_id}"]').send_keys(Keys.SPACE)
    tab.chord(Keys.CONTROL, "k")
    tab.find(".palette input")
    tab.keys("compare the two", Keys.ENTER)
    tab.until(lambda: tab.address().startswith("#/history/compare/"))
    for what in ("stdout", "Program"):
        tab.named(what).send_keys(Keys.ENTER)
        tab.until(lambda: tab.js(
            "return document.querySelector('.merge')?.shadowRoot?.textContent.includes('keyboard 1')"))
    assert "Memory" in tab.text(".grid") and "CPU" in tab.text(".grid")


# ---- approvals ----


def test_console_badge_counts_the_runs_that_wait(tab, service):
    tab.open("#/run")
    tab.find("#run")
    _, approval = ask(service, "echo badge")
    tab.until(lambda: tab.text(".badge") == "1")
    service.post(f"/v1/approvals/{approval}", {"decision": "reject"})
    tab.until(lambda: not tab.has(".badge"))


def test_console_approves_after_everything_was_shown(tab, service):
    run_id, approval = ask(service, "cat note; rm -rf /tmp/x; echo \"$1 $V\"", thread_id="t-1", args=["argument-1"],
                           env={"V": "value-1"}, files={"note": "content of a file\n"}, stdin="typed before")
    tab.open("#/approvals")
    tab.press("Look and decide")
    tab.find("#execute")
    text = tab.text(".dialog")
    for part in ("Execute this bash program?", "timeout 10.0 s", "did not write", "file deletion", "argument-1",
                 "V=value-1", "note", "content of a file", "typed before", "t-1", "left"):
        assert part in text, (part, text)
    assert tab.axe() == []
    tab.until(lambda: tab.js("return !document.querySelector('#execute').disabled"))
    tab.click("#execute")
    assert result(service, run_id)["stdout"] == "content of a file\nargument-1 value-1\n"
    tab.until(lambda: not tab.has(".dialog"))


def test_console_execute_ignores_a_click_that_comes_at_once(tab, service):
    """A click that was meant for something else decides nothing."""
    run_id, approval = ask(service, "echo too soon")
    tab.open("#/approvals")
    tab.until(lambda: tab.has(".approval"))
    tab.js("const spy = new MutationObserver(() => { const button = document.querySelector('#execute');"
           "if (button) { spy.disconnect(); button.click(); window.clicked = true; } });"
           "spy.observe(document.body, { childList: true, subtree: true });"
           "location.hash = '#/approvals/' + arguments[0]", approval)
    tab.until(lambda: tab.js("return window.clicked"))
    assert service.get(f"/v1/approvals/{approval}").json["decision"] == "pending"
    tab.until(lambda: tab.js("return !document.querySelector('#execute').disabled"))
    tab.js("dispatchEvent(new Event('blur'))")  # the window is covered
    tab.until(lambda: tab.js("return document.querySelector('#execute').disabled"))
    service.post(f"/v1/approvals/{approval}", {"decision": "reject"})


def test_console_edits_before_it_approves(tab, service):
    run_id, approval = ask(service, "echo before")
    open_request(tab, approval)
    tab.press("Edit")
    tab.until(lambda: tab.inside('.cm-content[aria-label="Program, which you edit"]', ".dialog .editor"))
    tab.write("echo after", scope=".dialog .editor")
    tab.until(lambda: tab.inside(".cm-deletedChunk", ".dialog .editor"))
    tab.click("#execute")
    assert result(service, run_id)["stdout"] == "after\n"
    assert service.get(f"/v1/approvals/{approval}").json["decision"] == "edit"


def test_console_rejects_with_a_reason(tab, service):
    run_id, approval = ask(service, "echo no")
    open_request(tab, approval)
    tab.press("Reject…")
    tab.find('input[aria-label="Reason of the rejection"]').send_keys("not today")
    tab.press("Reject the run")
    assert result(service, run_id)["verdict"] == "rejected"
    assert service.get(f"/v1/approvals/{approval}").json["decided_reason"] == "not today"


def test_console_says_that_another_person_was_faster(tab, service):
    _, approval = ask(service, "echo raced")
    open_request(tab, approval)
    service.post(f"/v1/approvals/{approval}", {"decision": "reject"})
    tab.click("#execute")
    tab.until(lambda: "Somebody was faster" in tab.text(".dialog") and "'reject'" in tab.text(".dialog"))


def test_console_remembers_a_thread(tab, service):
    run_id, approval = ask(service, "echo one", thread_id="remembered")
    open_request(tab, approval)
    tab.choose(".actions select", "session")
    tab.click("#execute")
    result(service, run_id)
    again = service.post("/v1/runs", {"language": "bash", "code": "echo two", "permission_mode": "default",
                                      "thread_id": "remembered"})
    assert again.json["stdout"] == "two\n"


def test_console_remembers_the_first_words_of_a_command(tab, service):
    run_id, approval = ask(service, "git status")
    open_request(tab, approval)
    tab.choose(".actions select", "prefix")
    tab.find('input[aria-label="First words of the command"]').send_keys("git status")
    tab.click("#execute")
    result(service, run_id)
    rule, = [r for r in service.get("/v1/rules").json["rules"] if r["match"] == "prefix"]
    assert (rule["text"], rule["action"]) == ("git status", "allow")
    service.delete(f"/v1/rules/{rule['id']}")


def test_console_dialog_names_the_artifact_and_the_thread_before(tab, service):
    """The title of the artifact, the earlier runs of the thread, and a decision that another person takes meanwhile."""
    service.run("print('earlier')", thread_id="t-artifact")
    made = service.post("/api/artifacts/create",
                        {"title": "Totals <i>", "language": "python", "content": "print(1)\n"}).json
    with ThreadPoolExecutor() as pool:
        reply = pool.submit(service.post, f"/api/artifacts/{made['id']}/execute",
                            {"permission_mode": "default", "thread_id": "t-artifact"})
        approval = eventually(lambda: [a for a in service.get("/v1/approvals?decision=pending").json["approvals"]
                                       if a["thread_id"] == "t-artifact"], 20)[0]["id"]
        open_request(tab, approval)
        tab.until(lambda: "Execute \u201cTotals <i>\u201d (python)?" in tab.text(".dialog h2"))
        tab.until(lambda: "Finished" in tab.text(".dialog .before"))
        service.post(f"/v1/approvals/{approval}", {"decision": "reject", "reason": "not now"})
        tab.until(lambda: "Somebody was faster" in tab.text(".dialog") and "not now" in tab.text(".dialog"))
        assert not tab.has("#execute") and tab.axe() == []
        assert reply.result(20).status == 200
    service.delete(f"/api/artifacts/{made['id']}")


def test_console_request_that_expires_can_be_asked_again(start_service):
    s = start_service("--set", "approvals.timeout=2s")
    _, approval = ask(s, "echo late")
    with browser.Browser(s) as b:
        b.open("#/approvals/" + approval)
        b.until(lambda: "The time is over" in b.text(".dialog"))
        assert not b.has("#execute") and b.axe() == []
        b.press("Ask again")
        b.until(lambda: b.address().startswith("#/runs/"))
        b.until(lambda: len(s.get("/v1/approvals").json["approvals"]) == 2)


def test_console_names_hidden_characters(tab, service):
    _, approval = ask(service, "print('a\u202eb\u200bc')", language="python", args=["x\u2066y"])
    open_request(tab, approval)
    code = tab.js("return document.querySelector('.dialog .editor').shadowRoot.textContent")
    assert "U+202E" in code and "U+200B" in code
    assert "xU+2066y" in tab.js("return [...document.querySelectorAll('.given')].map((e) => e.textContent).join()")
    service.post(f"/v1/approvals/{approval}", {"decision": "reject"})


# ---- the rest ----


@pytest.mark.parametrize("view, words", [("languages", "python"), ("stats", "Interpreters that wait"),
                                         ("keys", "There is no key"), ("audit", "run.finished"),
                                         ("artifacts", "No artifact yet"), ("batches", "Expected output")])
def test_console_other_views(tab, service, view, words):
    service.run("print(1)")
    tab.open(f"#/{view}")
    tab.until(lambda: words in tab.page())
    assert tab.axe() == []


def test_console_makes_and_removes_keys(start_service):
    s = start_service()
    admin = s.post("/v1/keys", {"name": "boss", "scopes": ["admin"]}).json["key"]
    with browser.Browser(s) as b:
        b.open("icon.svg")
        b.js("sessionStorage.setItem('belljar.key', arguments[0])", admin)
        b.open("#/keys")
        b.press("New key")
        b.find(".dialog input.field").send_keys("ci")
        b.press("Make the key")
        key = b.until(lambda: b.text("#new-key"))
        assert s.get("/v1/languages", headers={"X-API-Key": key}).status == 200
        b.press("Close")
        b.click('button[aria-label="Remove ci"]')
        b.press("Remove it")
        b.until(lambda: not b.has('button[aria-label="Remove ci"]'))
        assert s.get("/v1/languages", headers={"X-API-Key": key}).status == 401
        assert key not in json.dumps(b.js("return [Object.entries(localStorage), Object.entries(sessionStorage)]"))


def test_console_goes_on_after_the_service_was_away(start_service):
    """No service: a sentence, no lost text, and the page goes on by itself. A killed keeper loses no output."""
    s = start_service()
    with browser.Browser(s) as b:
        b.open("#/run")
        b.write("import time\nprint('one', flush=True)\ntime.sleep(60)")
        b.click("#run")
        b.until(lambda: "one" in b.output())
        os.kill(s.half("keeper").pid, signal.SIGKILL)
        b.over()
        assert b.output() == "one" and "Interrupted" in b.text(".result")
        assert "time.sleep(60)" in b.program()
        b.write("print('back')")
        b.click("#run")
        b.until(lambda: b.output() == "back")


def test_console_is_accessible_in_the_dark_and_on_a_phone(service):
    """axe finds nothing in any view, in either theme, wide or narrow, and no view is wider than the screen."""
    failed = service.run("import sys\nprint('x' * 300)\nprint(nothing)")["id"]
    other = service.run("print(2)")["id"]
    _, approval = ask(service, "rm -rf x")
    views = ["run", f"runs/{failed}", "history", f"history/compare/{failed}/{other}", "approvals",
             f"approvals/{approval}", "languages", "stats", "keys", "batches",
             "artifacts", "audit", "sessions", "nowhere"]
    with browser.Browser(service, dark=True) as b:
        for view in views:
            b.cdp("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=1, mobile=False)
            b.open("icon.svg")
            b.open(f"#/{view}")
            b.find("h1, .dialog")
            b.until(lambda: not b.has(".loading"))
            assert b.axe() == [], view
            assert b.js("return document.documentElement.scrollWidth") <= 390, view
    service.post(f"/v1/approvals/{approval}", {"decision": "reject"})


def test_console_decides_with_the_keyboard_alone(tab, service):
    from selenium.webdriver.common.keys import Keys

    run_id, approval = ask(service, "echo by keyboard")
    tab.open("icon.svg")
    tab.open("#/approvals")
    tab.find(".approval a.button").send_keys(Keys.ENTER)
    tab.until(lambda: tab.js("return document.querySelector('#execute')?.disabled === false"))
    for _ in range(30):
        if tab.js("return document.activeElement.id") == "execute":
            break
        tab.keys(Keys.TAB)
    tab.keys(Keys.ENTER)
    assert result(service, run_id)["stdout"] == "by keyboard\n"


def test_console_audit_is_read_and_verified(tab, service):
    run_id = service.run("print('on record')")["id"]
    tab.open("icon.svg")
    tab.open("#/audit")
    tab.until(lambda: tab.js("return !!document.querySelector(`a[href='#/runs/${arguments[0]}']`)", run_id))
    tab.press("Verify the log")
    tab.until(lambda: "The chain holds" in tab.text(".verified"))
    assert tab.axe() == []


def test_console_artifacts_have_versions(tab, service):
    made = service.post("/api/artifacts/create",
                        {"title": "Sum <b>", "language": "python", "content": "print(1)\n"}).json
    service.put(f"/api/artifacts/{made['id']}", {"content": "print(1 + 1)\n"})
    tab.open("icon.svg")
    tab.open("#/artifacts")
    tab.press("Sum <b>")
    tab.until(lambda: "print(1 + 1)" in tab.text(".block.plain"))
    tab.press("▶ Execute")
    tab.until(lambda: "2" in tab.text(".card .block"))
    tab.press("Changes")
    tab.until(lambda: tab.js("return !!document.querySelector('.merge').shadowRoot?.querySelector('.cm-changedText')"))
    tab.press("Text")
    tab.choose("main .page-head select", "0")
    tab.until(lambda: tab.text(".block.plain").strip() == "print(1)")
    assert tab.axe() == []


def test_console_batches_and_comparisons_are_tables(tab, service):
    tab.open("icon.svg")
    tab.js("localStorage.removeItem('belljar.batch')")
    tab.open("#/batches")
    tab.press("▶ Run 3 times")
    tab.until(lambda: "2 of 3 runs as expected, 1 not" in tab.page())
    assert tab.js("return [...document.querySelectorAll('.grid .chip')].map((c) => c.textContent)") == [
        "✓As expected", "✓As expected", "✕Differs"]
    assert tab.address().startswith("#/batches/")
    tab.driver.refresh()  # the runs of a batch are in the history
    tab.until(lambda: tab.js("return document.querySelectorAll('.grid tbody tr').length") == 3)
    tab.press("New batch")
    tab.press("Compare programs")
    tab.press("▶ Run 6 times")
    tab.until(lambda: tab.page().count("equal") == 3)
    assert tab.axe() == []


def test_console_history_takes_the_filters_of_the_api(tab, service):
    def rows():
        return tab.js("return [...document.querySelectorAll('tbody a')].map((a) => a.hash)")

    asked, approval = ask(service, "echo filtered", thread_id="thread-of-the-filter")
    tab.open("icon.svg")
    tab.open("#/history")
    tab.press("More filters")
    tab.find('input[placeholder="Thread"]').send_keys("thread-of-the-filter")
    tab.until(lambda: rows() == [f"#/runs/{asked}"])
    tab.open(f"#/history/compare/{asked}/{asked}")
    tab.driver.back()  # the list is as it was
    tab.until(lambda: rows() == [f"#/runs/{asked}"])
    service.post(f"/v1/approvals/{approval}", {"decision": "reject"})


# ---- bad input ----


def test_console_of_a_key_without_a_scope_says_what_to_do(start_service):
    s = start_service()
    s.post("/v1/keys", {"name": "boss", "scopes": ["admin"]})
    key = s.post("/v1/keys", {"name": "run", "scopes": ["run"]}, unix=True).json["key"]
    with browser.Browser(s) as b:
        b.open("icon.svg")
        b.js("sessionStorage.setItem('belljar.key', arguments[0])", key)
        b.open("#/run")
        b.write("print('with scope run')")
        b.click("#run")
        b.over()
        assert b.output() == "with scope run"
        for view, scope in (("stats", "read"), ("approvals", "read"), ("keys", "admin"), ("audit", "admin")):
            b.open(f"#/{view}")
            b.until(lambda: scope in b.text(".problem"))
        assert b.axe() == []


def test_console_many_tabs_share_one_connection(tab, service):
    """A browser opens six connections to a host, so eight live views with one each would starve: the seventh would
    show nothing, and no further request would be answered."""
    first = tab.driver.current_window_handle
    runs = [service.run("print('begun', flush=True)\ninput()\nprint('ended')", wait=False, status=202, stdin_open=True,
                        limits={"wall_ms": "2m"})["id"] for _ in range(8)]
    tabs = []
    try:
        for run_id in runs:
            tab.driver.switch_to.new_window("tab")
            tabs.append(tab.driver.current_window_handle)
            tab.cdp("Page.addScriptToEvaluateOnNewDocument", source=browser.WATCH)
            tab.open(f"#/runs/{run_id}")
            tab.until(lambda: "begun" in tab.output())
        for run_id in runs:
            service.post(f"/v1/runs/{run_id}/stdin", {"data": "\n", "eof": True})
        for handle in tabs:
            tab.driver.switch_to.window(handle)
            tab.over()
            tab.until(lambda: tab.output() == "begun\nended")
    finally:
        for handle in tabs:
            tab.driver.switch_to.window(handle)
            tab.driver.close()
        tab.driver.switch_to.window(first)


def test_console_at_a_zoom_of_400_percent(tab, service):
    """1280 pixels at 400 % are 320: nothing is cut off, and a run can be started."""
    tab.cdp("Emulation.setDeviceMetricsOverride", width=320, height=256, deviceScaleFactor=4, mobile=False)
    try:
        for view in ("run", "history", "batches", "stats"):
            tab.open("icon.svg")
            tab.open(f"#/{view}")
            tab.until(lambda: tab.has("h1") and not tab.has(".loading"))
            assert tab.js("return document.documentElement.scrollWidth") <= 320, view
        tab.open("#/run")
        tab.write("print('small')")
        tab.js("document.querySelector('#run').scrollIntoView()")
        tab.click("#run")
        tab.over()
        assert tab.output() == "small"
    finally:
        tab.cdp("Emulation.clearDeviceMetricsOverride")


def test_console_draft_survives_a_killed_tab(service):
    """The process of the tab dies without a word; so does the browser. The text is there again."""
    with browser.Browser(service) as b:
        b.open("#/run")
        b.write("print('before the crash')")
        b.until(lambda: "before the crash" in (b.js("return localStorage.getItem('belljar.draft')") or ""))
        first = b.driver.current_window_handle
        b.driver.switch_to.new_window("tab")
        b.cdp("Page.addScriptToEvaluateOnNewDocument", source=browser.WATCH)
        other = b.driver.current_window_handle
        b.driver.switch_to.window(first)
        try:
            b.driver.set_page_load_timeout(3)
            b.driver.get("chrome://crash")
        except Exception:  # noqa: BLE001  the tab is gone, as it should be
            pass
        b.driver.set_page_load_timeout(60)
        b.driver.switch_to.window(other)
        b.open("#/run")
        b.until(lambda: "before the crash" in b.program())
