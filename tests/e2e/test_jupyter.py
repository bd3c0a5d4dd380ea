"""`belljar kernel`: a Jupyter kernel whose cells run in a session. The clients are Debian's own."""

import json
import os
import shutil
import signal
import subprocess
import time

import pytest

import harness
from harness import belljar, eventually
from service import Service
from test_repl import Terminal

try:
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import KernelManager
    import zmq
except ImportError:
    pytest.skip("jupyter_client is not installed: apt-get install python3-jupyter-client", allow_module_level=True)

WITHIN = 60 * harness.PATIENCE


@pytest.fixture(scope="module")
def s():
    with Service() as service:
        service.jupyter = service.scratch / "jupyter"
        result = belljar("kernel", "install", "--state", service.state, "--prefix", service.jupyter)
        assert result.status == 0, result
        yield service


def specs(s):
    return KernelSpecManager(kernel_dirs=[str(s.jupyter / "share/jupyter/kernels")], ensure_native_kernel=False)


class Kernel:
    """A Jupyter kernel with one client."""

    def __init__(self, s, language="python", environ=None):
        self.manager = KernelManager(kernel_name=f"belljar-{language}", kernel_spec_manager=specs(s))
        self.manager.shutdown_wait_time = WITHIN  # a busy machine is no reason to kill it
        self.log = s.scratch / "kernel.log"
        self.log_file = open(self.log, "wb")  # until the end, for restarts
        self.manager.start_kernel(env={**s.environ, **(environ or {})}, stdout=self.log_file, stderr=self.log_file)
        self.client = self.manager.client()
        self.client.start_channels()

    def __enter__(self):
        self.client.wait_for_ready(timeout=WITHIN)
        return self

    def __exit__(self, *_):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=False)
        self.log_file.close()

    def run(self, code, answers=(), **how):
        """The content of the reply, and each message on iopub but the statuses."""
        seen, answers = [], iter(answers)
        reply = self.client.execute_interactive(
            code, output_hook=lambda m: seen.append((m["msg_type"], m["content"])), timeout=WITHIN,
            stdin_hook=lambda m: (seen.append((m["msg_type"], m["content"])), self.client.input(next(answers))), **how)
        published = [x for x in seen if x[0] != "input_request"]  # which comes on another socket, in any order
        assert published[0] == ("status", {"execution_state": "busy"}), seen
        assert seen[-1] == ("status", {"execution_state": "idle"}), seen
        return reply["content"], [x for x in seen if x[0] != "status"]

    def ask(self, question, *args, **how):
        """The content of the reply on the shell channel."""
        sent = getattr(self.client, question)(*args, **how)
        return self.reply(sent)["content"]

    def reply(self, sent, channel="shell"):
        get = getattr(self.client, f"get_{channel}_msg")
        deadline = time.monotonic() + WITHIN
        while time.monotonic() < deadline:
            message = get(timeout=WITHIN)
            if message["parent_header"].get("msg_id") == sent:
                return message
        raise AssertionError(f"no reply to {sent}")


@pytest.fixture
def k(s):
    with Kernel(s) as kernel:
        yield kernel


def texts(seen, name="stdout"):
    return "".join(c["text"] for t, c in seen if t == "stream" and c["name"] == name)


# ---- cells ----


def test_jupyter_kernel_runs_cells_and_shows_their_output(k):
    reply, seen = k.run("x = 20\nprint('out')\nimport sys; print('err', file=sys.stderr)\nx + 22")
    assert (reply["status"], reply["execution_count"]) == ("ok", 1), reply
    assert seen[0] == ("execute_input", {"code": seen[0][1]["code"], "execution_count": 1}), seen
    assert texts(seen) == "out\n" and texts(seen, "stderr") == "err\n", seen
    assert seen[-1] == ("execute_result", {"execution_count": 1, "data": {"text/plain": "42"}, "metadata": {}}), seen
    reply, seen = k.run("from IPython.display import clear_output, display\nh = display('a', display_id='d')\n"
                        "h.update('b')\nclear_output(wait=True)")
    kinds = [t for t, _ in seen]
    assert kinds == ["execute_input", "display_data", "update_display_data", "clear_output"], seen
    assert [c["transient"] for _, c in seen[1:3]] == [{"display_id": "d"}] * 2 and seen[3][1] == {"wait": True}, seen
    reply, seen = k.run("x", silent=True)
    assert reply["status"] == "ok" and reply["execution_count"] == 2 and seen == [], (reply, seen)
    reply, _ = k.run("x", user_expressions={"twice": "x * 2", "bad": "nosuch"})
    values = reply["user_expressions"]
    assert reply["execution_count"] == 3 and values["twice"]["data"] == {"text/plain": "40"}, reply
    assert values["bad"]["status"] == "error" and values["bad"]["ename"] == "NameError", reply


def test_jupyter_kernel_tells_errors_and_aborts_the_cells_behind_one(k):
    reply, seen = k.run("1/0")
    assert (reply["status"], reply["ename"], reply["evalue"]) == ("error", "ZeroDivisionError", "division by zero")
    assert [t for t, _ in seen] == ["execute_input", "error"] and "1/0" in "\n".join(seen[1][1]["traceback"]), seen
    # Both wait behind the first cell, which waits for its input until they are there.
    first = k.client.execute("input(); 1/0", allow_stdin=True)
    behind = k.client.execute("print(1)")
    k.client.get_stdin_msg(timeout=WITHIN)
    k.client.input("")
    assert k.reply(first)["content"]["status"] == "error"
    assert k.reply(behind)["content"]["status"] == "aborted"
    first = k.client.execute("input(); 1/0", stop_on_error=False, allow_stdin=True)
    behind = k.client.execute("print(1)")
    k.client.get_stdin_msg(timeout=WITHIN)
    k.client.input("")
    assert k.reply(first)["content"]["status"] == "error"
    assert k.reply(behind)["content"]["status"] == "ok"


def test_jupyter_kernel_aborts_no_cell_that_comes_after_the_error(k):
    """A client that has the reply may send the next cell at once, before the status is idle."""
    for _ in range(20):
        assert k.reply(k.client.execute("1/0"))["content"]["status"] == "error"
        assert k.reply(k.client.execute("1"))["content"]["status"] == "ok"


def test_jupyter_kernel_asks_its_client_for_input(k):
    reply, seen = k.run("import getpass\na = input('name? ')\nb = getpass.getpass('word? ')\nprint(a, b)",
                        allow_stdin=True, answers=["Ann", "Öl"])
    assert reply["status"] == "ok" and texts(seen) == "Ann Öl\n", seen
    asked = [c for t, c in seen if t == "input_request"]
    assert asked == [{"prompt": "name? ", "password": False}, {"prompt": "word? ", "password": True}], seen
    reply, _ = k.run("input()", allow_stdin=False)
    assert (reply["status"], reply["ename"]) == ("error", "EOFError"), reply


def test_jupyter_kernel_interrupts_a_cell_and_keeps_the_variables(k):
    k.run("x = 7")
    sent = k.client.execute("print('go', flush=True)\nwhile True: pass")
    while k.client.get_iopub_msg(timeout=WITHIN)["content"].get("text") != "go\n":
        pass
    k.manager.interrupt_kernel()
    reply = k.reply(sent)["content"]
    assert (reply["status"], reply["ename"]) == ("error", "KeyboardInterrupt"), reply
    reply, seen = k.run("x")
    assert seen[-1][1]["data"] == {"text/plain": "7"}, seen


def test_jupyter_kernel_answers_questions(k):
    info = k.ask("kernel_info")
    assert info["implementation"] == "belljar" and info["protocol_version"].startswith("5."), info
    assert info["language_info"]["name"] == "python" and info["language_info"]["file_extension"] == ".py", info
    k.run("some_name = 'ü'")
    k.run("def twice(n):\n    'Doubles it.'\n    return 2 * n")
    found = k.ask("complete", "ü = some_n", 10)
    assert "some_name" in found["matches"] and (found["cursor_start"], found["cursor_end"]) == (4, 10), found
    found = k.ask("inspect", "twice", 3)
    assert found["found"] and "Doubles it." in found["data"]["text/plain"], found
    assert not k.ask("inspect", "nosuch", 3)["found"]
    assert k.ask("is_complete", "for i in range(3):") == {"status": "incomplete", "indent": "    "}
    assert k.ask("is_complete", "x = 1")["status"] == "complete"
    past = k.ask("history", hist_access_type="tail", n=1, output=False)["history"]
    assert past == [[1, 2, "def twice(n):\n    'Doubles it.'\n    return 2 * n"]], past
    past = k.ask("history", hist_access_type="search", pattern="some*", n=5)["history"]
    assert past == [[1, 1, "some_name = 'ü'"]], past
    assert k.ask("comm_info") == {"status": "ok", "comms": {}}


def test_jupyter_kernel_says_that_its_session_is_over(k):
    reply, seen = k.run("import os; os._exit(3)")
    assert reply["status"] == "error" and "exit code 3" in reply["evalue"] and seen[-1][0] == "error", seen
    reply, seen = k.run("1")
    assert reply["status"] == "error" and reply["evalue"].endswith("restart the Jupyter kernel"), reply
    k.manager.restart_kernel()
    k.client.wait_for_ready(timeout=WITHIN)
    assert k.run("1 + 1")[1][-1][1]["data"] == {"text/plain": "2"}


@pytest.mark.parametrize("language, code, out", [("bash", "x=4; echo $((x + 1))", "5\n"),
                                                 ("javascript", "console.log(6 * 7)", "42\n")])
def test_jupyter_kernel_speaks_other_languages(s, language, code, out):
    with Kernel(s, language) as k:
        reply, seen = k.run(code)
        assert reply["status"] == "ok" and texts(seen) == out, seen


# ---- its life ----


def sessions(s):
    return {x["id"] for x in s.get("/v1/sessions").json["sessions"]}


def test_jupyter_kernel_ends_its_session_with_itself(s):
    before = sessions(s)
    with Kernel(s) as k:
        k.run("1")
        ours = sessions(s) - before
        assert len(ours) == 1
    assert eventually(lambda: not ours & sessions(s))
    with Kernel(s) as k:
        k.run("1")
        ours = sessions(s) - before
        os.kill(k.manager.provisioner.pid, signal.SIGTERM)
        assert ours and eventually(lambda: not ours & sessions(s))
        assert eventually(lambda: k.manager.provisioner.process.poll() == 0)


def test_jupyter_kernel_talks_to_the_service_without_privileges(s, k):
    """The process that reads the output of programs has a uid of its own, no capability and a filter."""
    pid = k.manager.provisioner.pid
    child = int(open(f"/proc/{pid}/task/{pid}/children").read().split()[0])
    status = dict(line.split(":\t", 1) for line in open(f"/proc/{child}/status").read().splitlines() if ":\t" in line)
    assert int(status["CapEff"], 16) == 0 and status["NoNewPrivs"] == "1", status
    if os.geteuid() == 0:
        assert status["Uid"].split()[0] != "0", status
    if not harness.ASAN:
        assert status["Seccomp"] == "2", status


def test_jupyter_kernel_without_a_service_says_how_to_start_one(s, public_path):
    with Kernel(s, "bash", {"HOME": str(public_path)}) as k:
        k.manager.kernel_spec.argv[-1] = str(public_path)  # of --state
        k.manager.restart_kernel()
        k.client.wait_for_ready(timeout=WITHIN)
        reply, seen = k.run("echo 1")
        assert reply["status"] == "error" and "'belljar serve' starts it" in reply["evalue"], reply
        assert seen[-1][0] == "error", seen
        assert k.ask("complete", "ec", 2)["status"] == "error"


# ---- bad input ----


def test_jupyter_kernel_drops_messages_that_are_not_of_its_client(k):
    """Wrong signatures, replays and broken messages: no reply, no effect, and the next request is served."""
    client, session = k.client, k.client.session
    shell = client.shell_channel.socket
    message = session.msg("execute_request", {"code": "stolen = 1", "silent": False})
    parts = session.serialize(message)
    wrong = list(parts)
    wrong[1] = b"0" * 64
    header, content = json.dumps({"msg_type": "execute_request"}).encode(), json.dumps({"code": "stolen = 2"}).encode()
    signed = [b"<IDS|MSG>", session.sign([b"not json", b"{}", b"{}", b"[]"]), b"not json", b"{}", b"{}", b"[]"]
    for bad in (wrong, parts[:3], [b""], [b"<IDS|MSG>"], [b"<IDS|MSG>", b"", header, b"{}", b"{}", content],
                [b"x"] * 100, signed, [b"<IDS|MSG>", session.sign([header, b"{}", b"{}", b"[]"]), header, b"{}", b"{}",
                                       b"[]"]):
        shell.send_multipart(bad)
        client.control_channel.socket.send_multipart(bad)
        client.stdin_channel.socket.send_multipart(bad)
    reply, _ = k.run("'stolen' in globals()")
    assert reply["status"] == "ok" and reply["execution_count"] == 1, reply
    once = session.serialize(session.msg("execute_request", {"code": "n = globals().get('n', 0) + 1"}))
    shell.send_multipart(once)
    shell.send_multipart(once)
    reply, seen = k.run("n, 'stolen' in globals()")
    assert seen[-1][1]["data"] == {"text/plain": "(1, False)"}, seen
    assert "wrong signature" in k.log.read_text() and "came twice" in k.log.read_text()
    unknown = session.msg("nosuch_request", {})
    session.send(shell, unknown)
    assert k.reply(unknown["header"]["msg_id"])["content"]["status"] == "error"


def test_jupyter_kernel_echoes_heartbeats_while_a_cell_runs(k):
    sent = k.client.execute("input()", allow_stdin=True)
    k.client.get_stdin_msg(timeout=WITHIN)
    with zmq.Context() as context, context.socket(zmq.REQ) as heart:
        heart.linger = 0
        heart.connect(f"tcp://127.0.0.1:{k.manager.hb_port}")
        heart.send(b"ping")
        assert heart.poll(WITHIN * 1000) and heart.recv() == b"ping"
    k.client.input("1")
    assert k.reply(sent)["content"]["status"] == "ok"


@pytest.mark.parametrize("text, said", [
    ("{", "is not a JSON object"), ('{"key": ""}', "'key' has 0 bytes"), ('{"key": "k"}', "'shell_port' is not a port"),
    ('{"key": "k", "transport": "udp"}', "transport 'udp'"),
    ('{"key": "k", "signature_scheme": "hmac-md5"}', "signature_scheme 'hmac-md5'")])
def test_jupyter_kernel_refuses_a_bad_connection_file(public_path, text, said):
    path = public_path / "connection.json"
    path.write_text(text)
    result = belljar("kernel", "-f", path)
    assert result.status == 125 and said in result.message, result


# ---- kernelspecs ----


def test_kernelspecs_are_installed_listed_and_removed(public_path):
    environ = {**os.environ, "HOME": str(public_path)}
    for name in ("JUPYTER_DATA_DIR", "XDG_DATA_HOME", "VIRTUAL_ENV", "CONDA_PREFIX"):
        environ.pop(name, None)
    kernels = public_path / ".local/share/jupyter/kernels"
    assert belljar("kernel", "install", environ=environ).status == 0
    listed = belljar("kernel", "list", environ=environ).out.decode().split()
    assert "belljar-python" in listed and "belljar-bash" in listed and "belljar-ruby" not in listed, listed
    assert sorted(listed) == sorted(os.listdir(kernels))
    spec = KernelSpecManager(kernel_dirs=[str(kernels)], ensure_native_kernel=False).get_kernel_spec("belljar-python")
    assert spec.interrupt_mode == "message" and spec.language == "python", spec
    assert spec.argv[1:] == ["kernel", "--language", "python", "-f", "{connection_file}"], spec
    assert belljar("kernel", "remove", "--language", "bash", environ=environ).status == 0
    assert not (kernels / "belljar-bash").exists() and (kernels / "belljar-python").exists()
    assert belljar("kernel", "remove", environ=environ).status == 0 and os.listdir(kernels) == []
    result = belljar("kernel", "remove", environ=environ)
    assert result.status == 125 and "belljar kernel install" in result.message, result
    environ["VIRTUAL_ENV"] = str(public_path / "venv")
    assert belljar("kernel", "install", "--sys-prefix", "--language", "python", "--timeout", "5m",
                   environ=environ).status == 0
    written = json.loads((public_path / "venv/share/jupyter/kernels/belljar-python/kernel.json").read_text())
    assert written["argv"][-2:] == ["--timeout", "5m"], written


@pytest.mark.parametrize("args, status, said", [
    ((), 64, "needs -f FILE"), (("nosuch",), 64, "install"),
    (("install", "--language", "ruby"), 125, "has no sessions"),
    (("install", "--prefix", "/proc/nosuch"), 125, "/proc/nosuch"), (("-f", "/nosuch"), 125, "'/nosuch'")])
def test_kernel_command_refuses_what_it_cannot_do(args, status, said):
    result = belljar("kernel", *args)
    assert result.status == status and said in result.message, result


# ---- whole clients ----

NOTEBOOK = {
    "nbformat": 4, "nbformat_minor": 5,
    "metadata": {"kernelspec": {"name": "belljar-python", "display_name": "Python (Belljar)", "language": "python"}},
    "cells": [
        {"id": "a", "cell_type": "markdown", "metadata": {}, "source": "# A plot"},
        {"id": "b", "cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [],
         "source": "import os\nprint(os.getcwd())\nvalues = [n * n for n in range(5)]"},
        {"id": "c", "cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [],
         "source": "from IPython.display import HTML, display\ndisplay(HTML('<b>bold</b>'))\nsum(values)"},
        {"id": "d", "cell_type": "code", "metadata": {"tags": ["raises-exception"]}, "execution_count": None,
         "outputs": [], "source": "values['x']"}]}


def jupyter_environ(s, path):
    return {**s.environ, "HOME": str(path), "JUPYTER_PATH": str(s.jupyter / "share/jupyter"),
            "JUPYTER_RUNTIME_DIR": str(path / "runtime"), "JUPYTER_PLATFORM_DIRS": "0"}


def test_nbconvert_executes_a_notebook_in_a_jar(s, public_path):
    pytest.importorskip("nbconvert", reason="nbconvert is not installed: apt-get install python3-nbconvert")
    (public_path / "notes.ipynb").write_text(json.dumps(NOTEBOOK))
    done = subprocess.run(["/usr/bin/python3", "-m", "nbconvert", "--execute", "--to", "notebook", "--output", "done",
                           "notes.ipynb"], cwd=public_path, env=jupyter_environ(s, public_path), capture_output=True,
                          text=True, timeout=WITHIN * 2, check=False)
    assert done.returncode == 0, done.stderr
    cells = json.loads((public_path / "done.ipynb").read_text())["cells"]
    assert cells[1]["outputs"] == [{"output_type": "stream", "name": "stdout", "text": ["/sandbox\n"]}], cells[1]
    display, result = cells[2]["outputs"]
    assert display["output_type"] == "display_data" and display["data"]["text/html"] == ["<b>bold</b>"], display
    assert (result["output_type"], result["execution_count"], result["data"]) == (
        "execute_result", 2, {"text/plain": ["30"]}), result
    assert cells[3]["outputs"][0]["ename"] == "TypeError", cells[3]


def test_jupyter_console_talks_to_a_jar(s, public_path):
    for program in ("jupyter-console", "tmux"):
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed: apt-get install {program}")
    environ = {**jupyter_environ(s, public_path), "TERM": "tmux-256color"}
    names = ("HOME", "JUPYTER_PATH", "JUPYTER_RUNTIME_DIR", "TERM")
    with Terminal(["jupyter-console", "--kernel", "belljar-python", "--simple-prompt"], public_path,
                  environ={name: environ[name] for name in names}) as t:
        assert eventually(lambda: "In [1]:" in t.screen(), WITHIN), t.screen()
        t.type("print('in', __import__('os').getcwd())", "Enter")
        assert eventually(lambda: "in /sandbox" in t.screen() and "In [2]:" in t.screen(), WITHIN), t.screen()
        t.type("6 * 7", "Enter")
        assert eventually(lambda: "Out[2]: 42" in t.screen(), WITHIN), t.screen()
        t.type("exit", "Enter")
        assert eventually(t.gone, WITHIN), t.screen()
