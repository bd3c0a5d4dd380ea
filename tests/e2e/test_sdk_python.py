"""The Python package of sdk/python against a real service, and against servers that misbehave."""

import ast
import asyncio
import glob
import inspect
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

import pytest

import harness
from fakes import ERROR, STREAM, Fake, answer
from harness import REPO, eventually
from service import ROOMY, Service, in_threads

sys.path.insert(0, str(REPO / "sdk" / "python"))

import belljar
from belljar import AsyncBelljar, Belljar, compat

# The package is about its own code; other tests have the code of the service under the sanitizers.
pytestmark = pytest.mark.release_only
FAILURE = """Traceback (most recent call last):
  File "a.py", line 1, in <module>
    x
NameError: name 'x' is not defined
"""
NAP = "import time; print('go', flush=True); time.sleep(60)"


@pytest.fixture(scope="module")
def service():
    """A service whose clients need a key, as one that others reach. The package finds the key by itself."""
    with Service(*ROOMY, "--set", "network.max=example.org:443") as s, pytest.MonkeyPatch.context() as patch:
        patch.setenv("BELLJAR_API_KEY", s.add_key("operator", "admin"))
        yield s


@pytest.fixture(scope="module")
def url(service):
    return f"http://127.0.0.1:{service.port}"


@pytest.fixture
def jar(url):
    with Belljar(url) as jar:
        yield jar


def in_asyncio(url, what):
    async def main():
        async with AsyncBelljar(url) as jar:
            return await what(jar)
    return asyncio.run(asyncio.wait_for(main(), 60 * harness.PATIENCE))


# ---- runs ----

def test_sdk_python_runs_programs_with_everything_that_a_run_takes(jar):
    result = jar.run("import sys, os, helper; print(helper.x, sys.argv[1:], os.environ['A'], sys.stdin.buffer.read());"
                     "open('out.bin', 'wb').write(b'\\xff')", "python", files={"helper.py": "x = 1", "b": b"\xfe"},
                     args=["one"], env={"A": "b"}, stdin=b"\xff\x00", outputs=["out.bin"], metadata={"k": [1]},
                     timeout=9)
    assert (result.verdict, result.stdout) == ("ok", "1 ['one'] b b'\\xff\\x00'\n"), result
    assert result.metadata == {"k": [1]} and result.limits.wall_ms == 9000 and result.usage.wall_ms > 0
    run = jar.runs.get(result.id)
    assert run.file("out.bin") == b"\xff" and [f.name for f in run.files()] == ["out.bin"]
    assert run.request().language == "python" and run.debug_report().report.status == "success"
    raw = jar.run("import sys; sys.stdout.buffer.write(b'a\\xff'); sys.stderr.write('e')", "python")
    assert (raw.output, raw.errors, run.stdout()) == (b"a\xff", b"e", result.output)
    with pytest.raises(AttributeError, match="no field 'stdut'"):
        raw.stdut


def test_sdk_python_a_failure_is_a_result_or_an_exception_with_the_diagnosis(jar):
    code = "def f(x):\n    return 1 / x\nf(0)\n"
    result = jar.run(code, "python")
    assert result.verdict == "runtime_error" and result.diagnosis.location.line == 2
    with pytest.raises(belljar.ProgramFailed) as failure:
        jar.run(code, "python", check=True)
    for word in ("ZeroDivisionError", "line 2", "return 1 / x", "test it before dividing"):
        assert word in str(failure.value), failure.value
    assert failure.value.result.exit_code == 1
    assert jar.run("while True: pass", "python", timeout=0.2).verdict == "timeout"
    with pytest.raises(belljar.ProgramFailed, match="NameError"), jar.session() as session:
        session.run("nothing", check=True)


def test_sdk_python_streams_are_iterators_and_take_stdin(jar):
    stream = jar.stream("print(1); print(2)", "python")
    assert "".join(event.text for event in stream) == "1\n2\n" and stream.result.verdict == "ok"
    with jar.stream("for line in iter(input, 'end'): print(line * 2, flush=True)", "python", stdin_open=True) as run:
        heard = ""
        for word in ("ab", "cd"):
            run.write(word + "\n")
            for event in run:
                heard += event.text
                if heard.endswith(word * 2 + "\n"):
                    break
        run.write(b"end\n", eof=True)
        heard += "".join(event.text for event in run)
    assert heard == "abab\ncdcd\n" and run.result.verdict == "ok"
    started = jar.start("import time\nfor i in range(3): print(i, flush=True)", "python")
    assert started.result().stdout == "0\n1\n2\n" and started.state().verdict == "ok"
    assert [e.event for e in started.events(after=1)][-1] == "done"


def test_sdk_python_leaving_early_cancels_the_run(jar):
    for event in jar.stream(NAP, "python", timeout=60):
        if event.text:
            break
    with jar.stream(NAP, "python", timeout=60) as stream:
        next(iter(stream))
    assert eventually(lambda: verdict_of(jar, stream.id) == "cancelled", 20)
    with jar.stream(NAP, "python", timeout=60) as stream:
        assert stream.cancel() and [e.event for e in stream][-1] == "done"
        assert stream.result.verdict == "cancelled" and not stream.cancel()
    assert not [row for row in jar.runs.list(state="running")]


def verdict_of(jar, run_id):
    return jar.runs.get(run_id).state().verdict


def test_sdk_python_many_runs_and_the_history(jar):
    batch = jar.batch(run={"language": "python", "code": "print(int(input()) + 1)"},
                      inputs=[{"stdin": "1", "expected": "2"}, {"stdin": b"2", "expected": "0"}])
    assert [r.passed for r in batch.results] == [True, False] and batch.results[1].difference.got == "3"
    assert jar.batch_runs(batch.id).finished
    events = list(jar.stream_batch(runs=[{"language": "bash", "code": f"echo {i}"} for i in range(3)]))
    assert [e.event for e in events] == ["result"] * 3 + ["done"] and events[-1].summary.ok == 3
    variants = [{"language": "python", "code": "print(1)"}, {"language": "bash", "code": "echo 1"}]
    assert len(jar.compare(variants=variants).variants) == 2
    assert [e.event for e in jar.stream_comparison(variants=variants)] == ["result", "result", "done"]
    rows = [row.id for row, _ in zip(jar.runs.list(limit=2), range(5))]
    assert len(set(rows)) == 5  # over three pages
    assert jar.diagnose(FAILURE, language="python").type == "NameError" and jar.diagnose("fine") is None
    assert any(language.name == "python" and language.installed for language in jar.languages())
    assert jar.health().status == "ok" and jar.stats().runs > 0


# ---- sessions ----

def test_sdk_runs_tests_beside_code(jar):
    tests = "from main import add\ndef test_good():\n    assert add(1, 2) == 3\ndef test_bad():\n    add()\n"
    result = jar.test(language="python", code="def add(a, b):\n    return a + b\n", tests=tests)
    assert result.outcome == "failed" and result.tests.passed == 1
    assert [c.diagnosis.type for c in result.tests.cases if c.outcome == "failed"] == ["TypeError"]


def test_sdk_checks_code_without_a_run(jar):
    result = jar.check(language="python", code="import no_such_module\nprint('hi')\n")
    assert result.outcome == "failed" and result.checks.source == "guest"
    python, = result.checks.languages
    assert python.syntax.state == "ok" and [p.name for p in python.imports.problems] == ["no_such_module"]


def test_sdk_python_sessions_run_cells_with_rich_output(jar):
    with jar.session("python", name="n", files={"a/b.txt": "text"}) as session:
        assert session.run("x = 20").status == "ok" and session.run("x + 22").text == "42"
        cell = session.run("from IPython.display import display, Image\nimport base64\n"
                           "display(Image(base64.b64decode('iVBORw0KGgo='), format='png'))")
        assert cell.images == [b"\x89PNG\r\n\x1a\n"] and session.cell(cell.cell).images == cell.images
        heard = []
        with session.stream("print('hi ' + input('name? '))") as stream:
            for event in stream:
                if event.event == "input_request":
                    stream.reply("Ada")
                heard.append(event.text)
        assert "".join(heard) == "hi Ada\n" and stream.result.status == "ok"
        with session.stream("import time; print('go', flush=True); time.sleep(60)") as stream:
            for event in stream:
                if event.text:
                    session.interrupt()
        assert stream.result.status == "interrupted" and session.run("x").text == "20"
        accepted = session.start("y = 1; print(y)")
        assert "".join(e.text for e in session.events(accepted.cell)) == "1\n"
        assert "x.bit_count" in [m.text for m in session.complete("x.bit").matches]
        assert session.inspect("len").found and {v.name for v in session.variables()} >= {"x", "y"}
        assert session.read("a/b.txt") == b"text"
        session.write("c d/é.bin", b"\x00\xff")
        assert session.read("c d/é.bin") == b"\x00\xff" and "c d/é.bin" in [f.path for f in session.files()]
        session.remove("c d/é.bin")
        with pytest.raises(belljar.NotFound):
            session.read("c d/é.bin")
        assert session.update(name="m").name == "m" and session.refresh().memory_bytes > 0
        assert session.id in [s.id for s in jar.sessions.list(name="m")]
        assert len(session.notebook()["cells"]) == len(session.cells())
        assert jar.sessions.get(session.id).id == session.id
        life = iter(session.life())
        assert next(life).state == "idle"
    assert [e.event for e in life][-1] == "ended"
    session.end()
    with pytest.raises(belljar.SessionEnded, match="ended at"):
        session.run("x")


def test_sdk_python_sessions_travel_in_time(jar):
    with jar.session("bash", undo=3) as session:
        session.run("x=1")
        kept = session.checkpoint("one")
        session.run("x=2")
        copy, other = session.fork(2, names=["copy", "other"])
        with copy, other:
            assert copy.run("echo $x").stdout == "2\n"
            with session.fork(from_="one")[0] as old:
                assert old.run("echo $x").stdout == "1\n"
        session.undo()
        assert session.run("echo $x").stdout == "1\n"
        session.run("x=5")
        assert session.rollback("one").to.id == kept.id and session.run("echo $x").stdout == "1\n"
        won = session.branches(["false", "x=7"], keep="first_ok")
        assert won.adopted and session.run("echo $x").stdout == "7\n"
        events = [e.event for e in session.stream_branches(["x=8"], keep="none")]
        assert events[0] == "forked" and events[-1] == "done"
        assert session.sleep() == [] and session.state.state == "sleeping"
        assert session.wake().state == "idle" and session.run("echo $x").stdout == "7\n"
        with jar.sessions.load(session.image()) as loaded:
            assert loaded.run("echo $x").stdout == "7\n"
        assert len(session.tree().sessions) >= 3 and "one" in [c.name for c in session.checkpoints()]
        session.delete_checkpoint("one")
        assert "one" not in [c.name for c in session.checkpoints()]
        session.restart()
        assert session.run("echo $x").stdout == "\n"


# ---- lists ----

def test_sdk_python_templates_approvals_rules_artifacts_and_networks(jar):
    jar.templates.create("sales", "echo made > made; x=3", language="bash")
    assert jar.run("echo $x; cat made", template="sales").stdout == "3\nmade\n"
    assert jar.templates.get("sales").bytes > 0 and [t.name for t in jar.templates.list()] == ["sales"]
    jar.templates.delete("sales")
    run = jar.start("echo approved", "bash", permission_mode="default", thread_id="t1")
    pending, = jar.approvals.list(decision="pending", thread_id="t1")
    assert pending.id == run.approval["id"] and jar.approvals.get(pending.id).state == "pending"
    assert jar.approvals.decide(pending.id, "approve").decision == "approve" and run.result().stdout == "approved\n"
    with pytest.raises(belljar.Conflict):
        jar.approvals.decide(pending.id, "reject")
    rule = jar.rules.add("deny", match="contains", text="forbidden-word")
    assert jar.run("echo forbidden-word", "bash").verdict == "rejected" and rule.id in [r.id for r in jar.rules.list()]
    jar.rules.delete(rule.id)
    made = jar.artifacts.create("print(1)", "one", "python", conversation_id="c")
    assert jar.artifacts.update(made.id, content="print(2)").content == "print(2)"
    assert jar.artifacts.execute(made.id).execution.output.strip() == "2"
    assert jar.artifacts.download(made.id) == "print(2)" and len(jar.artifacts.versions(made.id)) == 2
    assert jar.artifacts.fork(made.id).id != made.id and jar.artifacts.get(made.id).title == "one"
    assert jar.artifacts.list("c") and jar.artifacts.detect("```python\nprint(1)\n```")[0].language == "python"
    jar.artifacts.delete(made.id)
    with pytest.raises(belljar.NotFound):
        jar.artifacts.get(made.id)
    assert jar.run("1", "python", network={"allow": ["example.org:443"]}).network.connections == 0
    with pytest.raises(belljar.Forbidden, match="network"):
        jar.run("1", "python", network={"allow": ["example.com:443"]})


# ---- asyncio ----

def test_sdk_python_asyncio_is_the_same_client(url):
    async def work(jar):
        results = await asyncio.gather(*[jar.run(f"print({i})", "python") for i in range(20)])
        assert [r.stdout for r in results] == [f"{i}\n" for i in range(20)]

        async def follow(i):
            return "".join([e.text async for e in jar.stream(f"echo {i}", "bash")])
        assert await asyncio.gather(*[follow(i) for i in range(30)]) == [f"{i}\n" for i in range(30)]
        async with jar.session() as session:
            assert (await session.run("6 * 7")).text == "42"
            async with session.stream("print(input())") as stream:
                async for event in stream:
                    if event.event == "input_request":
                        await stream.reply("x")
            assert stream.result.status == "ok"
            await session.write("big", b"x" * (3 << 20))
            assert len(await session.read("big")) == 3 << 20
        session = await jar.session("bash")
        await session.end()
        async with jar.stream("cat", "bash", stdin_open=True) as run:
            await run.write("through", eof=True)
            assert "".join([e.text async for e in run]) == "through"
        return [row.id async for row in jar.runs.list(limit=20)][:3]
    assert len(in_asyncio(url, work)) == 3


def test_sdk_python_cancelled_task_cancels_its_run(url, jar):
    async def work(jar):
        task = asyncio.create_task(jar.run(NAP, "python", timeout=60, thread_id="cancelled-task"))
        rows = []
        while not [r for r in rows if r.state == "running"]:
            rows = [r async for r in jar.runs.list(session="cancelled-task")]
            await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(jar.run(NAP, "python", timeout=60), 0.3)
        return rows[0].id
    run_id = in_asyncio(url, work)
    assert eventually(lambda: verdict_of(jar, run_id) == "cancelled", 20)
    assert eventually(lambda: not list(jar.runs.list(state="running")), 20)


def test_sdk_python_both_clients_have_the_same_methods():
    pairs = [(belljar.Belljar, belljar.AsyncBelljar), (belljar.Session, belljar.AsyncSession),
             (belljar.Run, belljar.AsyncRun), (belljar.RunStream, belljar.AsyncRunStream)]
    for one, other in pairs:
        names = {n for n in dir(one) if not n.startswith("_")} - {"close"}
        assert names == {n for n in dir(other) if not n.startswith("_")} - {"close", "aclose"}, one
        for name in names:
            a, b = getattr(one, name), getattr(other, name)
            if callable(a):
                assert list(inspect.signature(a).parameters) == list(inspect.signature(b).parameters), name


# ---- wrong things ----

def test_sdk_python_refusals_are_typed_errors(jar, service):
    with pytest.raises(belljar.BadRequest, match="did you mean 'python'") as refusal:
        jar.run("1", "pithon")
    assert (refusal.value.status, refusal.value.code, refusal.value.field) == (400, "bad_request", "language")
    with pytest.raises(belljar.BadRequest, match="did you mean 'stdin'"):
        jar.run("1", "python", stdim="x")
    with pytest.raises(belljar.NotFound, match="no path"):
        jar._transport.call("POST", "/v9/runs", {})
    with pytest.raises(belljar.BadRequest):
        jar._transport.call("PATCH", "/v1/runs", {})
    with pytest.raises(belljar.NotFound):
        jar.sessions.get("ses_0")
    with jar.session("bash") as session, pytest.raises(belljar.TooLarge):
        session.write("large", b"x" * (17 << 20))
    with pytest.raises(belljar.TooLarge):
        jar.run("1", "python", stdin="x" * (40 << 20))
    assert jar.run("print(1)", "python").stdout == "1\n"
    for wrong in ("ftp://x", "127.0.0.1:6000", "unix:relative.sock", "http://"):
        with pytest.raises(ValueError, match="unix:/path/belljar.sock"):
            Belljar(wrong)


def test_sdk_python_two_clients_and_races_on_one_session(jar, url):
    with jar.session("bash") as session, Belljar(url) as second:
        same = second.sessions.get(session.id)
        results = []
        threads = [threading.Thread(target=lambda s=s: results.append(s.run("echo $((++n))").stdout))
                   for s in (session, same) * 3]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        assert sorted(results) == [f"{i}\n" for i in range(1, 7)]
        with session.stream("echo go; sleep 60") as stream:
            for event in stream:
                if event.text:
                    with pytest.raises(belljar.Conflict):
                        same.fork()
                    same.end()  # the other client ends it while the cell runs
        assert stream.result.status == "lost"
    for _ in range(5):  # the cancel and the end of a run race: both answers are fine
        stream = jar.stream("true", "bash")
        with stream:
            stream.cancel()
            assert [e.event for e in stream][-1] == "done"
        assert stream.result.verdict in ("ok", "cancelled")


def test_sdk_python_a_service_that_goes_away_is_an_error_and_never_a_hang(url):
    with pytest.raises(belljar.ConnectionFailed, match="no belljar service at"):
        Belljar("http://127.0.0.1:1", retries=0).health()
    with pytest.raises(belljar.ConnectionFailed):
        Belljar("unix:/nonexistent/belljar.sock", retries=0).health()
    with Fake(STREAM) as fake, pytest.raises(belljar.ConnectionLost):
        list(Belljar(fake.url).stream("1", "python"))
    for line in (b"x" * 35, b'"' + b"y" * 33 + b'"', b"[" + b" " * 33 + b"]"):  # neither JSON nor an event
        with Fake(STREAM.replace(b'{"event":"queued","seq":0,"id":"r"}', line)) as fake:
            with pytest.raises(belljar.ProtocolError, match="the stream has a line"):
                list(Belljar(fake.url).stream("1", "python"))
    with Fake(None) as fake, pytest.raises(belljar.TimedOut, match="0.2 s"):
        Belljar(fake.url, timeout=0.2).health()

    async def late(jar):
        with pytest.raises(belljar.TimedOut, match="0.2 s"):
            await jar.health()

    async def waits(url):
        await late(AsyncBelljar(url, timeout=0.2))
        with pytest.raises(belljar.ConnectionFailed):
            await AsyncBelljar("http://127.0.0.1:1", retries=0).health()
    with Fake(None) as fake:
        asyncio.run(waits(fake.url))
    for strange in (b"HTTP/2 200 OK\r\n\r\n", b"SSH-2.0-OpenSSH\r\n\r\n", answer(200, b"<html>"), b"x" * 70000,
                    answer(200).replace(b"application/json", b"text/html"), answer(404, b"<html>"),
                    answer(200).replace(b"Content-Length", b"X-Other"),
                    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n"):
        with Fake(strange) as fake, pytest.raises(belljar.ProtocolError):
            Belljar(fake.url, retries=0).health()
        with Fake(strange) as fake, pytest.raises(belljar.ProtocolError):
            asyncio.run(AsyncBelljar(fake.url, retries=0).health())


def test_sdk_python_events_go_on_after_the_death_of_the_keeper(jar, service):
    """Each event once. A run does not outlive the keeper, but a session does."""
    with jar.session("bash") as session:
        stream = session.events(session.start("for i in 1 2 3 4 5; do echo $i; sleep 0.2; done").cell)
        run = jar.start("echo a; sleep 60", "bash", timeout=90)
        assert next(event for event in run.events() if event.text)
        heard = ""
        for event in stream:
            heard += event.text
            if event.text == "2\n":
                kill_keeper(jar, service)
        assert heard.split() == ["1", "2", "3", "4", "5"] and stream.result.status == "ok"
    ended = run.result()
    assert ended.state == "interrupted" and "interrupted: the service died" in ended.explain(), ended
    with pytest.raises(belljar.ProgramFailed, match="send it again"):
        ended.check()


def kill_keeper(jar, service):
    keeper = service.half("keeper").pid
    os.kill(keeper, signal.SIGKILL)
    assert eventually(lambda: service.half("keeper").pid != keeper and jar.health(), 60)


def test_sdk_python_retries_only_where_it_is_safe():
    good = answer(200, b'{"status": "ok"}')
    with Fake(b"", good) as fake:  # a GET whose connection is lost
        assert Belljar(fake.url).health().status == "ok" and len(fake.requests) == 2
    with Fake(b"", good) as fake:  # a POST is never sent twice
        with pytest.raises(belljar.ConnectionLost):
            Belljar(fake.url).run("1", "python")
        assert len(fake.requests) == 1
    with Fake(answer(503, ERROR, ["Retry-After: 0"]), good) as fake:  # refused, so not accepted
        Belljar(fake.url).run("1", "python")
        assert len(fake.requests) == 2
    with Fake(*[answer(503, ERROR, ["Retry-After: 0"])] * 9) as fake:
        with pytest.raises(belljar.Busy, match="too many runs") as busy:
            Belljar(fake.url, retries=2).run("1", "python")
        assert len(fake.requests) == 3 and busy.value.retry_after == 0
    with Fake(answer(503, ERROR)) as fake, pytest.raises(belljar.Busy):  # no advice: nobody knows
        Belljar(fake.url).run("1", "python")
    with Fake(b"", answer(404, ERROR)) as fake:  # the first attempt deleted it
        Belljar(fake.url).templates.delete("x")
        assert len(fake.requests) == 2
    with Fake(b"", b"") as fake:  # each version of an artifact counts
        with pytest.raises(belljar.ConnectionLost):
            Belljar(fake.url).artifacts.update("a", content="x")
        assert len(fake.requests) == 1
    with Fake(STREAM, STREAM.replace(b'"queued","seq":0', b'"stdout","seq":7')) as fake:  # events go on where they were
        with pytest.raises(belljar.ConnectionLost):
            events = Belljar(fake.url, retries=1).runs.get("r").events()
            assert [next(it := iter(events)).event, next(it).seq] == ["queued", 7]
            next(it)
        assert fake.requests[1].startswith(b"GET /v1/runs/r/events?after=0 ")
        assert fake.requests[2].startswith(b"GET /v1/runs/r/events?after=7 ")


def test_sdk_python_keeps_connections_and_leaves_closed_ones(url):
    with Belljar(url) as jar:
        before = jar.stats().http.requests
        for _ in range(20):
            jar.health()
        assert len(jar._transport._idle) == 1
        wire, since = jar._transport._idle[0]
        wire._sock.shutdown(2)  # as the service does after a while
        assert jar.run("print(1)", "python").stdout == "1\n"
        pid = os.fork()
        if pid == 0:  # a fork does not share the connections of its parent
            os._exit(0 if jar._transport._take() is None else 1)
        assert os.waitpid(pid, 0)[1] == 0
        assert jar.stats().http.requests >= before + 21
    with pytest.raises(belljar.BelljarError, match="closed"):
        jar.health()


def test_sdk_python_finds_the_service_by_its_environment(service, monkeypatch):
    monkeypatch.delenv("BELLJAR_API_KEY")
    monkeypatch.setenv("BELLJAR_URL", f"unix:{service.socket_path}")
    with Belljar() as jar:
        key = jar.keys.add("sdk", ["run"]).key
        assert jar.run("print(1)", "python").stdout == "1\n" and "sdk" in [k.name for k in jar.keys.list()]
        monkeypatch.setenv("BELLJAR_URL", f"http://127.0.0.1:{service.port}")
        with Belljar() as stranger, pytest.raises(belljar.Unauthorized):
            stranger.run("print(1)", "python")
        monkeypatch.setenv("BELLJAR_API_KEY", key)
        with Belljar() as known:
            assert known.run("print(2)", "python").stdout == "2\n"
            with pytest.raises(belljar.Forbidden):
                known.keys.list()
        jar.keys.remove("sdk")


# ---- documents and examples ----

def blocks(document, language):
    """(code, expected output) of each block of a README."""
    text = (REPO / document).read_text()
    return re.findall(rf"```{language}\n(.*?)```\n```output\n(.*?)```\n", text, re.S)


def matches(expected, got):
    """… stands for any text, as in `belljar verify`."""
    return re.fullmatch("(?s)" + ".*?".join(map(re.escape, expected.strip().split("…"))), got.strip())


def python(url, *args, **how):
    env = {**os.environ, "BELLJAR_URL": url, "PYTHONPATH": str(REPO / "sdk/python"), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, *map(str, args)], capture_output=True, text=True, env=env,
                          timeout=120 * harness.PATIENCE, **how)


def test_sdk_python_examples_of_the_readme_are_true(url):
    found = blocks("sdk/python/README.md", "python")
    assert len(found) >= 6 and len(found[0][0].strip().splitlines()) <= 5
    ran = in_threads([lambda code=code: python(url, "-c", code) for code, _ in found])
    for (code, expected), result in zip(found, ran):
        assert result.returncode == 0 and matches(expected, result.stdout), (code, result)


EXAMPLES = {
    "fix_loop.py": ["name 'number' is not defined", "Did you mean 'numbers'?", "attempt 2: 5.0"],
    "best_of_n.py": ["candidate 1: ok, score 3.0", "goes on as candidate 1", "'best-of-n'"],
    "judge.py": ["small: accepted", "large: wrong answer: expected '1000000000001'", "2 of 3 tests passed"],
    "analysis_chat.py": ["(6, 3)", "'Ulm'", "plot-3.png", "no attribute 'profit'"],
    "langchain_tool.py": ["run_python", "12.566370614359172", "ZeroDivisionError"],
}


def test_agent_recipes_in_python_work(url, tmp_path):
    folder = REPO / "examples" / "agents"
    assert {path.name for path in folder.glob("*.py")} == set(EXAMPLES)
    ran = in_threads([lambda name=name: python(url, folder / name, cwd=tmp_path) for name in EXAMPLES])
    for (name, lines), result in zip(EXAMPLES.items(), ran):
        assert result.returncode == 0 and all(line in result.stdout for line in lines), (name, result)
    assert (tmp_path / "plot-3.png").read_bytes().startswith(b"\x89PNG")


def test_mcp_configurations_of_desktop_clients_name_our_command():
    found = {path.name: json.loads(path.read_text()) for path in (REPO / "examples" / "mcp").glob("*.json")}
    assert len(found) == 4
    for name, configuration in found.items():
        [(key, servers)] = configuration.items()
        assert key == ("servers" if name.startswith("vscode") else "mcpServers") and set(servers) == {"belljar"}
        server = servers["belljar"]
        if name == "http.mcp.json":
            assert server["type"] == "http" and server["url"].endswith(":6000/mcp")
        else:
            assert (server["command"], server["args"]) == ("belljar", ["mcp"]), name


# ---- the package ----

def test_sdk_python_compat_code_sandbox_is_as_documented(url, monkeypatch):
    monkeypatch.setenv("BELLJAR_URL", url)
    sandbox = compat.CodeSandbox(compat.ResourceLimits(timeout_seconds=5))
    good = sandbox.execute("import helper, os; print(helper.x, os.environ['A']); open('made.txt', 'w').write('m')",
                           "python", files={"helper.py": "x = 5"}, env_vars={"A": "b"})
    assert (good.success, good.exit_code, good.stdout, good.output_files) == (True, 0, "5 b\n", {"made.txt": "m"}), good
    assert good.memory_used > 0 and good.execution_time > 0 and good.language == "python" and not good.timeout
    late = sandbox.execute("while True: pass", "python", compat.ResourceLimits(timeout_seconds=0.2))
    assert (late.timeout, late.exit_code, late.success) == (True, 124, False)
    wrong = sandbox.execute("{}['a']", "python")
    unknown = sandbox.execute("x", "cobol")
    analyse, report = compat.AutoDebuggerIntegration.analyze_error, compat.AutoDebuggerIntegration.create_debug_report
    assert analyse(good) == {"is_error": False, "error_type": "unknown"}
    assert analyse(late)["error_type"] == "timeout" and "suggestion" in analyse(late)
    assert (analyse(wrong)["error_type"], analyse(wrong)["exception"]) == ("python_exception", "KeyError")
    assert analyse(sandbox.execute("exit 3", "bash"))["error_type"] == "execution_failure"
    assert analyse(unknown)["error_type"] == "sandbox_error" and "cobol" in analyse(unknown)["error"]
    assert report(good)["status"] == "success" and report(good)["output_files"] == ["made.txt"]
    assert set(report(wrong)) == {"status", "exit_code", "execution_time", "timestamp", "language", "container_id",
                                  "output", "resource_usage", "error_type", "error_message"}
    history = sandbox.get_execution_history()
    assert len(history) == 5 and len(sandbox.get_execution_history(limit=2)) == 2
    assert set(history[0]) == {"timestamp", "language", "success", "exit_code", "execution_time", "container_id"}
    assert sandbox.get_resource_usage(good.container_id) == good.resource_usage
    assert "python" in sandbox.list_supported_languages() and sandbox.cleanup_all_containers() == 0
    results = []
    thread = threading.Thread(target=lambda: results.append(sandbox.execute(NAP, "python")))
    thread.start()
    assert eventually(lambda: sandbox.cleanup_all_containers() == 1, 20)
    thread.join(20)
    assert not results[0].success


def test_sdk_python_works_on_every_python_from_3_9(url):
    files = glob.glob(str(REPO / "sdk/python/belljar/**/*.py"), recursive=True)
    assert len(files) >= 20
    for file in files:
        with open(file) as f:
            ast.parse(f.read(), file, feature_version=(3, 9))
    program = ("import asyncio, belljar, belljar.compat, sys\n"
               "assert belljar.Belljar().run('print(1)', 'python').stdout == '1\\n'\n"
               "async def main():\n"
               "    async with belljar.AsyncBelljar() as jar:\n"
               "        assert [e.text async for e in jar.stream('echo 1', 'bash')].count('1\\n') == 1\n"
               "asyncio.run(main()); print(sys.version_info[1])")
    tried = []
    for minor in range(9, 14):
        found = [*glob.glob(os.path.expanduser(f"~/.pyenv/versions/3.{minor}.*/bin/python3")),
                 *glob.glob(f"/usr/bin/python3.{minor}")]
        if found:
            ran = subprocess.run([found[0], "-W", "error", "-c", program], capture_output=True, text=True, timeout=60,
                                 env={**os.environ, "BELLJAR_URL": url, "PYTHONPATH": str(REPO / "sdk/python"),
                                      "PYTHONDONTWRITEBYTECODE": "1"})
            assert ran.stdout == f"{minor}\n", ran
            tried.append(minor)
    print(f"ran with Python 3.{{{', '.join(map(str, tried))}}}")
    assert tried


def test_sdk_python_overhead_is_small(url):
    """The processor time of a call beyond that of a raw socket, in one process: it must stay below 0.3 ms."""
    def cost(call, n=200):
        call()
        start = time.process_time()
        for _ in range(n):
            call()
        return (time.process_time() - start) / n * 1000
    with Belljar(url) as jar:
        mine = min(cost(jar.health) for _ in range(3))
    assert mine < 0.3 * harness.PATIENCE, mine
