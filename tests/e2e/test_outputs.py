"""Files a run produced are listed and fetched (R1.7)."""

import os

import pytest

from harness import belljar, given_time, run_py


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


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/../../x", "", ".", "..", "a//b", "x" * 300, "a/./b", "a/"])
def test_out_names_that_leave_the_sandbox_are_refused(public_path, name):
    (public_path / "p.py").write_text("print('STARTED')")
    result = belljar("run", "--out", name, public_path / "p.py", cwd=public_path)
    assert result.status in (64, 125) and b"STARTED" not in result.out and result.message, result
