"""`:files` in `belljar repl`: the files of the session, and those of the caller."""

import os

import pytest

from harness import belljar
from service import Service


@pytest.fixture(scope="module")
def s():
    with Service() as service:
        yield service


def cells(s, text, cwd):
    return belljar("repl", "python", stdin=text.encode(), cwd=cwd,
                   environ={**os.environ, "BELLJAR_STATE": str(s.state)})


def test_files_go_into_a_session_and_out_of_it(s, public_path):
    data = bytes(range(256)) * 2000
    (public_path / "in file.bin").write_bytes(data)
    (public_path / "kept").write_bytes(b"mine")
    result = cells(s, ":files\n:files put 'in file.bin' data/in.bin\nlen(open('data/in.bin','rb').read())\n"
                      "_ = open('a\\x1b[31m','w').write('x'); _ = open('kept','w').write('theirs')\n"
                      ":files\n:files get data/in.bin\n:files get data/in.bin other\n:files get kept\n"
                      ":files rm data/in.bin\n:files rm data/in.bin\nprint('on')\n", public_path)
    out, err = result.out.decode(), result.err.decode()
    assert result.status == 0 and out.startswith("There are no files.\nwrote data/in.bin\n512000\n"), result
    assert "directory  data\n" in out and "512000  data/in.bin\n" in out and "\x1b" not in out, out
    assert "saved in.bin\nsaved other\n" in out and "removed data/in.bin\non\n" in out, out
    assert (public_path / "in.bin").read_bytes() == data and (public_path / "other").read_bytes() == data
    assert (public_path / "kept").read_bytes() == b"mine" and "write 'kept': File exists" in err, err
    assert "'data/in.bin' in /sandbox does not exist" in err, err


@pytest.mark.parametrize("words, message", [
    ("get", "':files get' is not known"),
    ("get a b c", "too many words"),
    ("put 'a", "a quote has no end"),
    ("put missing", "open 'missing'"),
    ("put .", "directory"),
    ("mv a b", "':files mv a b' is not known"),
    ("get ../etc/passwd", "'..'"),
    ("get /etc/passwd x", "absolute"),
    ("rm ''", "names no file"),
    ("put /etc/", "names no file"),
])
def test_words_about_files_that_are_wrong_are_explained(s, public_path, words, message):
    result = cells(s, f":files {words}\nprint('on')\n", public_path)
    assert result.status == 0 and result.out == b"on\n" and message in result.err.decode(), result
    assert os.listdir(public_path) == []
