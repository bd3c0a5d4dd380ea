"""Belljar refuses nonsense with one sentence that names the value and the accepted values. Nothing is started
(R3.1)."""

import os

import pytest

from harness import as_ordinary_user, belljar

PROGRAM = "print('STARTED')\n"


@pytest.fixture
def program(public_path):
    path = public_path / "p.py"
    path.write_text(PROGRAM)
    return path


def assert_refused(result, *words, status=125):
    assert result.status == status, result
    assert result.out == b"", result
    assert "STARTED" not in result.message
    assert result.message.count("\n") == 0 and 10 < len(result.message) <= 400, result
    for word in words:
        assert word.lower() in result.message.lower(), (word, result)


def test_unknown_language(program):
    """R2.6"""
    result = belljar("run", "-l", "cobol", program)
    assert_refused(result, "Language 'cobol' is not supported", "python", "bash", status=64)


def test_unknown_suffix(public_path):
    (public_path / "p.xyz").write_text(PROGRAM)
    assert_refused(belljar("run", public_path / "p.xyz"), "p.xyz", "-l")


def test_stdin_needs_a_language():
    assert_refused(belljar("run", "-", stdin=b"hello"), "-l", "python")


def test_missing_file():
    assert_refused(belljar("run", "/nonexistent/p.py"), "/nonexistent/p.py")


def test_missing_file_beside(program):
    assert_refused(belljar("run", "--file", "/nonexistent/data", program), "/nonexistent/data")


def test_missing_stdin_file(program):
    assert_refused(belljar("run", "--stdin", "/nonexistent/in", program), "/nonexistent/in")


def test_unreadable_file(public_path, belljar_for_everybody):
    path = public_path / "p.py"
    path.write_text(PROGRAM)
    path.chmod(0)
    assert_refused(belljar("run", path, prefix=as_ordinary_user()), str(path))


def test_directory_instead_of_a_file(public_path):
    assert_refused(belljar("run", "-l", "python", public_path), str(public_path), "directory")


def test_directory_as_file_beside(program, public_path):
    (public_path / "d").mkdir()
    assert_refused(belljar("run", "--file", public_path / "d", program), "directory")


def test_fifo_instead_of_a_file_does_not_hang(public_path):
    os.mkfifo(public_path / "p.py")
    assert_refused(belljar("run", public_path / "p.py", within=10), "p.py")


def test_device_instead_of_a_file(program):
    assert_refused(belljar("run", "-l", "python", "/dev/zero", within=10), "/dev/zero", "16777216")
    assert_refused(belljar("run", "--file", "/dev/zero:z", program, within=10), "/dev/zero")


def test_empty_program(public_path):
    (public_path / "p.py").write_text("")
    assert_refused(belljar("run", public_path / "p.py"), "empty")


def test_empty_program_on_stdin():
    assert_refused(belljar("run", "-l", "python", "-", stdin=b""), "empty")


def test_hundred_megabyte_program(public_path):
    path = public_path / "p.py"
    with open(path, "wb") as f:
        f.write(PROGRAM.encode())
        f.truncate(100 << 20)
    assert_refused(belljar("run", path), "p.py", "16777216")


def test_hundred_megabyte_program_on_stdin():
    assert_refused(belljar("run", "-l", "python", "-", stdin=b"#" * (100 << 20)), "16777216")


def test_endless_stdin_as_program(public_path):
    result = belljar("run", "-l", "python", "-", prefix=["sh", "-c", 'exec "$@" < /dev/zero', "sh"], within=20)
    assert_refused(result, "16777216")


def test_hundred_megabyte_file_beside(program, public_path):
    with open(public_path / "big", "wb") as f:
        f.truncate(100 << 20)
    assert_refused(belljar("run", "--file", public_path / "big", program), "big", "16777216")


def test_too_much_in_all_files_together(program, public_path):
    files = []
    for i in range(5):
        with open(public_path / f"big{i}", "wb") as f:
            f.truncate(15 << 20)
        files += ["--file", public_path / f"big{i}"]
    assert_refused(belljar("run", *files, program), "67108864")


NONSENSE = ["", "0", "-1", "nan", "inf", "1e308", "x", "+1", "0x40", "1.2.3", " 8", "8 ", "8\n", "٣",
            "99999999999999999999", "1,5"]
# option: (the accepted values, its bounds, more nonsense)
LIMITS = {
    "memory": ("a size such as", "from 8m to 1t",
               ["-64m", "64q", "m", "64 m", "64mm", "1t1", "7m", "2t", "1.2.3m", "8388607"]),
    "output": ("a size such as", "from 1 to 1g", ["100t", "0k"]),
    "disk": ("a size such as", "from 64k to 1t", ["100t", "63k"]),
    "timeout": ("a duration such as", "from 1ms to 24h",
                ["-1s", "5x", "s", "5 s", "0.0s", "25h", "0.0001s", "1:30", "0ms", "2d"]),
    "cpu-time": ("a duration such as", "from 1ms to 24h", ["-1s", "25h", "0ms"]),
    "pids": ("a whole number", "from 1 to 4096", ["1.5", "64k", "4097"]),
    "files": ("a whole number", "from 16 to 10000000", ["15", "10000001"]),
    "open-files": ("a whole number", "from 8 to 65536", ["7", "65537"]),
    "cpu-percent": ("a whole number", "from 1 to 6400", ["0.5", "6401", "50%"]),
    "memory-swap": ("a size such as", "from 0 to 1t", ["-1m", "2t"]),
    "cpu-shares": ("a whole number", "from 2 to 262144", ["1", "262145"]),
}


@pytest.mark.parametrize("option", LIMITS)
def test_nonsense_as_a_limit(program, option):
    """R3.1, R3.2: never "no limit". The message names the option, the value and the accepted values."""
    kind, bounds, more = LIMITS[option]
    for value in NONSENSE + more:
        if (option, value) == ("memory-swap", "0"):
            continue  # no swap
        result = belljar("run", f"--{option}", value, program)
        assert_refused(result, option, value.strip(), status=64)
        assert kind in result.message or bounds in result.message, result


@pytest.mark.parametrize("option", LIMITS)
def test_limits_at_their_bounds_are_accepted(program, option):
    """R3.1: the documented minimum and maximum are themselves no nonsense"""
    low, high = LIMITS[option][1].split()[1::2]
    for value in (low, high):
        result = belljar("run", f"--{option}", value, program)
        assert "accepted" not in result.message, result


NAMES = ["..", "../x", "a/../../x", "a/../b", "/etc/x", "", ".", "a//b", "a/", "./a", "x" * 256, "a/" * 3000 + "b",
         "a/./b"]


@pytest.mark.parametrize("name", NAMES, ids=lambda n: n[:12] or "empty")
def test_bad_file_name(program, name):
    """names with ..: nothing outside /sandbox is ever named"""
    assert_refused(belljar("run", "--file", f"{program}:{name}", program), "name", status=64)


@pytest.mark.parametrize("name", [b"new\nline", b"bell\x07", b"\xff\xfe", b"esc\x1b[31m", b"del\x7f"], ids=repr)
def test_bad_bytes_in_file_name(program, name):
    """A message does not hand them on to the terminal."""
    result = belljar("run", "--file", os.fsencode(program) + b":../" + name, program)
    assert_refused(result, "name", status=64)
    assert not set(result.err.strip()) & ({*range(32), 127}), result


def test_duplicate_file_names(program, public_path):
    (public_path / "x").write_text("1")
    (public_path / "y").write_text("2")
    assert_refused(belljar("run", "--file", public_path / "x", "--file", f"{public_path}/y:x", program), "'x'", "twice")


def test_file_with_the_programs_own_name(program, public_path):
    (public_path / "x").write_text("1")
    assert_refused(belljar("run", "--file", f"{public_path}/x:p.py", program), "p.py", "program's own")


def test_file_name_below_another_file(program, public_path):
    (public_path / "x").write_text("1")
    files = ["--file", f"{public_path}/x:a", "--file", f"{public_path}/x:a/b"]
    assert_refused(belljar("run", *files, program), "a/b")


@pytest.mark.parametrize("value", ["", "=", "=x", "novalue", "A B=x", "1A=x", "A-B=x", "LD_PRELOAD\n=x"])
def test_bad_env(program, value):
    assert_refused(belljar("run", "--env", value, program), "NAME=VALUE", status=64)


def test_two_megabytes_of_arguments(program):
    args = ["x" * 100000] * 20
    assert_refused(belljar("run", program, "--", *args), "65536")


def test_two_megabytes_of_environment(program):
    env = [a for i in range(20) for a in ("--env", f"E{i}=" + "x" * 100000)]
    assert_refused(belljar("run", *env, program), "65536")


def test_hundred_thousand_arguments(program):
    assert_refused(belljar("run", program, "--", *["a"] * 100000), "4096")


def test_unknown_option(program):
    assert_refused(belljar("run", "--frobnicate", program), "--frobnicate", status=64)


def test_option_without_its_value():
    assert_refused(belljar("run", "--memory"), "--memory", status=64)


def test_no_file():
    assert_refused(belljar("run"), status=64)


def test_no_command():
    result = belljar()
    assert result.status == 64 and result.err, result


def test_unknown_command():
    result = belljar("frobnicate")
    assert (result.status, result.out) == (64, b"") and "'frobnicate'" in result.message.splitlines()[0], result
    assert "'belljar run FILE'" in result.message and "'belljar help'" in result.message


def test_unknown_level(program):
    result = belljar("run", "--isolation", "perfect", program)
    assert_refused(result, "perfect", "jar", "rootless", "process", status=64)


def test_help_is_no_error():
    for args in (["--help"], ["run", "--help"], ["doctor", "--help"], ["-h"]):
        result = belljar(*args)
        assert (result.status, result.err) == (0, b"") and b"run" in result.out or b"doctor" in result.out, args
    help_text = belljar("run", "--help").out.decode()
    for option in ("--timeout --cpu-time --memory --pids --output --disk --files --env --file --out --stdin "
                   "--writable-root --isolation --json").split():
        assert option in help_text, option


def test_refusals_are_json_too_where_json_was_asked(program):
    """The exit status counts. stdout stays empty or holds one object with the verdict `rejected`."""
    import json

    result = belljar("run", "--json", "--memory", "0", program)
    assert result.status == 64 and "memory '0'" in result.message
    if result.out:
        assert json.loads(result.out)["verdict"] == "rejected"


def test_sizes_as_people_write_them(program):
    """R3.2"""
    import json

    for text, size in (("64m", 64 << 20), ("64M", 64 << 20), ("65536k", 64 << 20), ("67108864", 64 << 20),
                       ("1g", 1 << 30)):
        result = belljar("run", "--json", "--memory", text, program)
        assert json.loads(result.out)["limits"]["memory"] == size, text


def test_durations_as_people_write_them(program):
    """R3.1"""
    import json

    for text, ms in (("5s", 5000), ("500ms", 500), ("2m", 120000), ("1h", 3600000), ("3", 3000), ("1.5", 1500),
                     ("0.5s", 500)):
        result = belljar("run", "--json", "--timeout", text, program)
        assert json.loads(result.out)["limits"]["wall_ms"] == ms, text


def test_nothing_is_left_of_refused_runs(host, program, public_path):
    for args in (["--memory", "0"], ["-l", "cobol"], ["--isolation", "perfect"]):
        assert belljar("run", *args, program).status == 64
    assert belljar("run", "--file", "/nonexistent", program).status == 125
    assert sorted(os.listdir(public_path)) == ["p.py"]
