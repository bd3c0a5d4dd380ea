"""Files a run produced are listed and fetched (R1.7)."""

import os

import pytest

from harness import belljar, given_time, run_py, run_sh


def fetch(code, where, *names, **opts):
    return run_py(code, out=names, cwd=where, **opts)


def test_out_fetches_a_regular_file(public_path):
    """R1.7: byte for byte, listed with its size"""
    data = bytes(range(256)) * 100
    result = fetch(f"open('result.bin', 'wb').write(bytes(range(256)) * 100)", public_path, "result.bin")
    assert result.verdict == "ok" and (public_path / "result.bin").read_bytes() == data
    (entry,) = result.json["files"]
    assert entry["name"] == "result.bin" and entry["size"] == len(data)


def test_out_can_be_stored_under_another_name(public_path):
    fetch("open('a', 'w').write('x')", public_path, f"a:{public_path}/b")
    assert (public_path / "b").read_text() == "x" and not (public_path / "a").exists()


def test_out_from_a_folder(public_path):
    result = fetch("import os; os.mkdir('d'); open('d/a', 'w').write('x')", public_path, f"d/a:{public_path}/a")
    assert result.verdict == "ok" and (public_path / "a").read_text() == "x", result


def test_out_is_fetched_also_after_a_failure(public_path):
    """R1.4: the output so far is kept"""
    result = fetch("open('a', 'w').write('x')\nraise SystemExit(3)", public_path, "a")
    assert result.status == 3 and (public_path / "a").read_text() == "x"


def test_out_is_fetched_also_after_a_timeout(public_path):
    code = "import time\nwith open('a', 'w') as f: f.write('x')\nprint('written', flush=True)\ntime.sleep(60)"
    result = given_time(lambda ms: fetch(code, public_path, "a", timeout=f"{ms}ms"))
    assert result.status == 124 and (public_path / "a").read_text() == "x"


def test_out_may_be_empty(public_path):
    fetch("open('a', 'w')", public_path, "a")
    assert (public_path / "a").read_bytes() == b""


def test_out_overwrites_and_is_ordinary(public_path):
    """Nothing of the file's mode in the jar (setuid, say) reaches the host."""
    (public_path / "a").write_text("old and longer")
    fetch("import os; open('a', 'w').write('new'); os.chmod('a', 0o7777)", public_path, "a")
    assert (public_path / "a").read_text() == "new"
    assert os.stat(public_path / "a").st_mode & 0o7022 == 0


def test_several_outs_in_order(public_path):
    result = fetch("for n in 'abc': open(n, 'w').write(n)", public_path, "c", "a", "b")
    assert [f["name"] for f in result.json["files"]] == ["c", "a", "b"]


def test_out_below_tmp_is_fetched_by_its_absolute_name(sealed, public_path):
    """R1.7: beside files of /sandbox with the same name, cold and warm, also after a failure"""
    code = """\
import os
os.makedirs('/tmp/d/e')
os.mkdir('tmp')
open('/tmp/x', 'wb').write(bytes(range(256)))
for name, text in (('/tmp/d/e/y', 'deep'), ('x', 'sandbox'), ('tmp/x', 'inner')):
    open(name, 'w').write(text)
raise SystemExit(3)"""
    result = fetch(code, public_path, "/tmp/x", f"x:{public_path}/own", f"tmp/x:{public_path}/inner",
                   f"/tmp/d/e/y:{public_path}/deep", "/tmp/none")
    assert result.status == 3 and (public_path / "x").read_bytes() == bytes(range(256)), result
    assert [(public_path / n).read_text() for n in ("own", "inner", "deep")] == ["sandbox", "inner", "deep"]
    assert [(f["name"], f["status"]) for f in result.json["files"]] == [
        ("/tmp/x", "ok"), ("x", "ok"), ("tmp/x", "ok"), ("/tmp/d/e/y", "ok"), ("/tmp/none", "missing")], result
    assert "'/tmp/none' is not saved" in result.message and not (public_path / "none").exists()


def test_out_below_tmp_works_in_every_kind_of_jar(sealed, public_path):
    """A writable root, a list of commands and a compiled program."""
    sh = "mkdir /tmp/d; echo text > /tmp/d/f"
    for how in ({}, {"writable_root": True}, {"allow": ["mkdir"]}):
        result = run_sh(sh, out=["/tmp/d/f"], cwd=public_path, **how)
        assert result.verdict == "ok" and (public_path / "f").read_text() == "text\n", (how, result)
        (public_path / "f").unlink()
    (public_path / "p.c").write_text(
        '#include <stdio.h>\nint main(void) { return fputs("c", fopen("/tmp/f", "w")) < 0; }')
    result = belljar("run", "--out", "/tmp/f", public_path / "p.c", cwd=public_path)
    assert result.status == 0 and (public_path / "f").read_text() == "c", result


def test_out_below_tmp_counts_for_the_same_limits(sealed, public_path):
    """The 64 MiB of all outputs, and the disk of the jar, hold for both directories together."""
    code = ("for n in ('/tmp/a', 'b'):\n    with open(n, 'wb') as f: f.truncate(40 << 20)\n"
            "print(open('/tmp/a', 'rb').read(1), flush=True)")
    result = fetch(code, public_path, f"/tmp/a:{public_path}/a", f"b:{public_path}/b", disk="100m")
    assert [f["status"] for f in result.json["files"]] == ["ok", "too_large"], result
    full = fetch("with open('/tmp/a', 'wb', 0) as f:\n    try:\n        while f.write(b'x' * 65536): pass\n"
                 "    except OSError as e: print(e.errno)", public_path, "/tmp/a", disk="4m")
    assert full.json["files"][0]["size"] <= 4 << 20, full


def test_out_below_tmp_is_refused_where_tmp_is_the_hosts(public_path):
    """Level process has no /tmp of its own: a file of another program there is none of its outputs."""
    name = f"jartest-{os.getpid()}-out"
    with open(f"/tmp/{name}", "w") as f:
        f.write("HOST-SECRET")
    try:
        result = run_py("print('STARTED')", out=[f"/tmp/{name}:{public_path}/got"], isolation="process", json=False)
    finally:
        os.unlink(f"/tmp/{name}")
    assert result.status == 125 and result.out == b"" and "level process" in result.message, result
    assert not (public_path / "got").exists()


ODD = {
    "symlink": "os.symlink('/etc/passwd', 'x')",
    "relative symlink": "open('y', 'w').write('y'); os.symlink('y', 'x')",
    "fifo": "os.mkfifo('x')",
    "directory": "os.mkdir('x')",
    "socket": "import socket; socket.socket(socket.AF_UNIX).bind('x')",
    "missing": "pass",
}


@pytest.mark.parametrize("kind", ODD)
def test_out_that_is_no_regular_file_is_left_and_said(public_path, kind):
    """R1.7: no symlink, device or FIFO is ever followed; the run itself is as it was"""
    result = fetch(f"import os\n{ODD[kind]}", public_path, "x", within=20)
    if kind == "socket" and "Error" in result.stderr:
        pytest.skip("the program may not make a socket here")
    assert not os.path.lexists(public_path / "x")
    assert result.verdict == "ok" and result.json["files"][0]["size"] is None, result
    assert "x" in result.message and result.message.count("\n") == 0, result


def test_others_are_fetched_though_one_is_missing(public_path):
    fetch("open('a', 'w').write('x')", public_path, "missing", "a")
    assert (public_path / "a").read_text() == "x"


def test_out_into_a_symlink_of_the_host_is_the_callers_business(public_path):
    """The host's side of the copy is the caller's own: an unwritable place is an error with a sentence."""
    result = run_py("open('a', 'w').write('x')", out=["a:/nonexistent/folder/a"])
    assert result.status == 125 and "/nonexistent/folder/a" in result.message, result


@pytest.mark.parametrize("name", ["/tmp", "/tmp/", "/tmp//x", "/tmp/../etc/passwd", "/tmp/d/../../x", "/tmp/.",
                                  "/tmp/x/", "/tmpx/y", "/var/tmp/x", "/dev/shm/x", "/sandbox/x", "//tmp/x", "../tmp/x",
                                  "/tmp/" + "x" * 300, "/tmp/" + "x/" * 2497 + "x"], ids=lambda n: n[:20])
def test_out_names_that_leave_tmp_are_refused(public_path, name):
    """R1.7: also a name of 5000 bytes"""
    (public_path / "p.py").write_text("print('STARTED')")
    result = belljar("run", "--out", name, public_path / "p.py", cwd=public_path)
    assert result.status == 64 and b"STARTED" not in result.out and "below /tmp such as /tmp/a.csv" in result.message
    assert result.message.count("\n") == 0 and len(result.message) < 400, result


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/../../x", "", ".", "..", "a//b", "x" * 300, "a/./b", "a/"])
def test_out_names_that_leave_the_sandbox_are_refused(public_path, name):
    (public_path / "p.py").write_text("print('STARTED')")
    result = belljar("run", "--out", name, public_path / "p.py", cwd=public_path)
    assert result.status in (64, 125) and b"STARTED" not in result.out and result.message, result
