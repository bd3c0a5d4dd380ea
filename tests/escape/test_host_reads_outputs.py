"""The host reads files that the guest left (Judge0 CVE-2024-28185/28189). Links, FIFOs, devices, hard links, huge and
growing files mislead nobody and cost nothing."""

import os
import resource
from pathlib import Path

import pytest

import hostview
from harness import run_py, start

SECRET = "host-secret-4711"


@pytest.fixture
def secret(public_path):
    path = public_path / "secret"
    path.write_text(SECRET)
    return path


def fetch(code, where, name="x", **opts):
    result = run_py("import os, sys\n" + code, out=[f"{name}:{where}/got"], **opts)
    return result, (where / "got").read_bytes() if (where / "got").exists() else None


LINKS = {
    "symlink to a host file": "os.symlink({secret!r}, 'x')",
    "symlink to /etc/passwd": "os.symlink('/etc/passwd', 'x')",
    "symlink through /proc": "os.symlink('/proc/self/root/etc/passwd', 'x')",
    "symlink to a descriptor": "os.symlink('/proc/self/fd/0', 'x')",
    "symlink to a device": "os.symlink('/dev/zero', 'x')",
    "symlink to itself": "os.symlink('x', 'x')",
    "dangling symlink": "os.symlink('/sandbox/nowhere', 'x')",
    "fifo": "os.mkfifo('x')",
    "directory": "os.mkdir('x')",
}


@pytest.mark.parametrize("kind", LINKS)
def test_no_link_is_followed(public_path, secret, kind):
    """R1.7"""
    result, got = fetch(LINKS[kind].format(secret=str(secret)) + "\nprint('made')", public_path, within=30)
    assert (result.verdict, result.stdout, got) == ("ok", "made\n", None), result
    assert SECRET not in result.out.decode() + result.message


@pytest.mark.parametrize("link", ["/", "/etc", "/proc/self/root/etc", "/proc/self/cwd/../etc", "."])
def test_no_link_on_the_way_is_followed(public_path, link):
    result, got = fetch(f"os.symlink({link!r}, 'd'); open('passwd', 'w').write('x'); print('made')", public_path,
                        "d/passwd")
    assert (result.verdict, result.stdout, got) == ("ok", "made\n", None), result


IN_TMP = {
    "symlink to a host file": ("os.symlink({secret!r}, '/tmp/x')", "x"),
    "symlink to /etc/passwd": ("os.symlink('/etc/passwd', '/tmp/x')", "x"),
    "symlink out of tmp": ("open('y', 'w').write('y'); os.symlink('../sandbox/y', '/tmp/x')", "x"),
    "symlink through /proc": ("os.symlink('/proc/self/root/etc/passwd', '/tmp/x')", "x"),
    "symlink to a descriptor": ("os.symlink('/proc/self/fd/0', '/tmp/x')", "x"),
    "symlink to a device": ("os.symlink('/dev/zero', '/tmp/x')", "x"),
    "symlink to itself": ("os.symlink('/tmp/x', '/tmp/x')", "x"),
    "directory is a link to /etc": ("os.symlink('/etc', '/tmp/x')", "x/passwd"),
    "directory is a link to /": ("os.symlink('/', '/tmp/x')", "x/etc/passwd"),
    "directory is a link to its parent": ("os.symlink('..', '/tmp/x')", "x/etc/passwd"),
    "directory is a link to the host's": ("os.symlink({folder!r}, '/tmp/x')", "x/secret"),
    "fifo": ("os.mkfifo('/tmp/x')", "x"),
    "socket": ("import socket; socket.socket(socket.AF_UNIX).bind('/tmp/x')", "x"),
    "directory": ("os.mkdir('/tmp/x')", "x"),
    "device": ("os.mknod('/tmp/x', 0o20666, os.makedev(1, 5))", "x"),
}


@pytest.mark.parametrize("kind", IN_TMP)
def test_nothing_but_a_file_comes_out_of_tmp(sealed, public_path, secret, kind):
    """R1.7: each attack really ran, no byte of the host came back, and the host's /tmp has nothing new."""
    trick, name = IN_TMP[kind]
    trick = trick.format(secret=str(secret), folder=str(secret.parent))
    before = Path("/tmp/x").exists() or Path("/tmp/x").is_symlink()
    result, got = fetch(f"""
try: {trick}; print('made')
except OSError as e: print('refused', e.errno)""", public_path, f"/tmp/{name}", within=30)
    assert result.verdict == "ok" and got is None, result
    assert result.stdout == "made\n" or kind in ("device", "socket") and result.stdout.startswith("refused"), result
    assert result.json["files"][0]["size"] is None and f"'/tmp/{name}' is not saved" in result.message, result
    assert SECRET not in result.out.decode() + result.message and "root:" not in result.out.decode()
    assert before or not (Path("/tmp/x").exists() or Path("/tmp/x").is_symlink())


def test_name_below_tmp_reads_no_file_of_the_hosts_tmp(sealed, public_path):
    """The same name exists on the host, and the program did not make it."""
    host = Path("/tmp") / f"jartest-{os.getpid()}-{public_path.name}"
    host.write_text(SECRET)
    host.chmod(0o644)
    try:
        result, got = fetch("print(os.listdir('/tmp'))", public_path, str(host))
        trick = f"os.symlink({str(host)!r}, '/tmp/x'); os.rename('/tmp/x', {str(host)!r})"
        linked, gone = fetch(trick, public_path, str(host))
        assert host.read_text() == SECRET
    finally:
        host.unlink()
    assert (result.stdout, got, result.json["files"][0]["status"]) == ("[]\n", None, "missing"), result
    assert (linked.verdict, gone, linked.json["files"][0]["status"]) == ("ok", None, "not_a_file"), linked


def test_hard_links_into_tmp_reach_only_own_files(sealed, public_path, secret):
    code = """
for victim in ("/etc/passwd", "/usr/bin/env", "/proc/self/exe", "/proc/self/environ", "/dev/null"):
    try: os.link(victim, "/tmp/x"); print("linked", victim)
    except OSError: pass
open("/tmp/y", "w").write("own"); os.link("/tmp/y", "/tmp/z")
"""
    result, got = fetch(code, public_path, "/tmp/x")
    assert (result.stdout, got) == ("", None), result
    assert fetch(code, public_path, "/tmp/z")[1] == b"own"


def test_hard_links_to_the_runtime_cannot_be_made(public_path):
    code = """
for victim in ("/etc/passwd", "/usr/bin/env", "/proc/self/exe", "/proc/self/environ"):
    try: os.link(victim, "x"); print("linked", victim)
    except OSError: pass
"""
    result, got = fetch(code, public_path)
    assert (result.stdout, got) == ("", None), result


def test_hard_link_to_an_own_file_is_a_file(public_path):
    _, got = fetch("open('y', 'w').write('own'); os.link('y', 'x')", public_path)
    assert got in (b"own", None)


def test_terabyte_that_is_not_there_costs_nothing(public_path):
    """A sparse file: refused by its size, not read to its end."""
    result, got = fetch("""\
f = open('x', 'w')
try: f.truncate(1 << 40)
except OSError as e: print(e)
f.close()""", public_path, within=30)
    assert result.verdict in ("ok", "runtime_error"), result
    assert got is None or len(got) <= 64 << 20
    if got is None:
        assert "x" in result.message, result


def test_file_that_grows_while_it_is_read_is_bounded(public_path):
    """A process that the program left running cannot feed the copy for ever."""
    code = """
if os.fork() == 0:
    f = open("x", "wb")
    while True:
        try: f.write(b"y" * 65536); f.flush()
        except OSError: f.seek(0); f.truncate()
import time; time.sleep(0.3)
"""
    result, got = fetch(code, public_path, disk="8m", within=30)
    assert result.verdict == "ok" and (got is None or len(got) <= 8 << 20), result


def test_output_is_the_callers_file(public_path):
    """Neither the jar's uid nor its modes or attributes reach the host."""
    code = """\
open('x', 'w').write('x'); os.fchmod(os.open('x', 0), 0o6777)
try: os.setxattr('x', 'user.a', b'b')
except OSError: pass"""
    _, got = fetch(code, public_path)
    s = os.stat(public_path / "got")
    assert got == b"x" and s.st_uid == os.geteuid() and s.st_mode & 0o7111 == 0
    assert not os.listxattr(public_path / "got")


def test_unreadable_output_is_no_obstacle(public_path):
    """chmod 000 on the way there."""
    code = """
os.mkdir("d")
open("d/x", "w").write("x")
os.fchmod(os.open("d/x", 0), 0)
os.fchmod(os.open("d", 0), 0)
print("made")
"""
    result, got = fetch(code, public_path, "d/x")
    assert (result.verdict, result.stdout) == ("ok", "made\n") and got in (b"x", None), result


def test_memory_for_outputs_is_bounded(public_path):
    """16 files of 3 MB: fetched whole, and the command stays small (it streams or it caps)."""
    code = "for i in range(16): open(f'o{i}', 'wb').write(b'z' * (3 << 20))"
    result = run_py(code, out=[f"o{i}:{public_path}/o{i}" for i in range(16)])
    sizes = [os.path.getsize(public_path / f"o{i}") for i in range(16) if (public_path / f"o{i}").exists()]
    assert result.verdict == "ok" and all(s == 3 << 20 for s in sizes), result
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 1 << 20  # KiB


def status_of(pid):
    try:
        return dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines()
                    if ":\t" in line)
    except OSError:  # it has ended
        return {}


def children_of(pid):
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def last_look_at_collector(where):
    """The process that reads three large outputs, as late in its life as we saw it: its filters of system calls beyond
    those of the warden, which it inherits, and its status. 0 and {} if we never saw it."""
    code = "for name in 'abc': open(name, 'wb').write(b'x' * (16 << 20))\n"
    filters, last = 0, {}
    with start(code, out=[f"{name}:{where}/{name}" for name in "abc"]) as running:
        while running.popen.poll() is None:
            for warden in children_of(hostview.own_service or running.pid):
                its = status_of(warden)
                for status in map(status_of, children_of(warden) if its.get("Name") == "belljar-warden" else []):
                    # it has the name of the warden, which forked it, and the uid of the jar
                    if status.get("Name") == "belljar-warden" and status["Uid"].split()[0] != "0":
                        filters, last = int(status["Seccomp_filters"]) - int(its["Seccomp_filters"]), status
        result = running.finish()
    assert result.verdict == "ok" and (where / "c").stat().st_size == 16 << 20, result
    return filters, last


def test_collector_has_no_more_rights_than_the_guest(as_root, sealed, public_path):
    """It reads names and files that the guest chose. It lives for milliseconds, so it is looked for repeatedly."""
    looks = []
    while len(looks) < 12 and not (looks and looks[-1][0] > 0):
        looks.append(last_look_at_collector(public_path))
    filters, last = looks[-1]
    assert (filters, last.get("NoNewPrivs")) == (1, "1"), looks
    assert {last[f"Cap{s}"] for s in ("Inh", "Prm", "Eff", "Bnd", "Amb")} == {"0" * 16}, last
