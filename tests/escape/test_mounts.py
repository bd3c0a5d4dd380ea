"""A directory of the host that a jar shows is read-only, leads nowhere else, and keeps its secrets (R4.4)."""

import os
import socket
import stat
import subprocess

import pytest

from harness import ROOT, as_ordinary_user, attack, belljar, let_through, run_py, run_sh, start

SECRET = "host-secret-4712"


@pytest.fixture
def project(public_path):
    """With a file, a link out of it, and secrets."""
    top = public_path / "project"
    (top / "pkg" / ".git").mkdir(parents=True)
    (public_path / "outside").write_text(SECRET)
    (top / "data.txt").write_text("data")
    (top / "pkg" / "code.py").write_text("value = 42")
    (top / "link").symlink_to(public_path / "outside")
    (top / "up").symlink_to("../outside")
    for name in (".env", ".ENV.production", "pkg/server.key", "pkg/id_rsa", "pkg/.git/config", "pkg/.netrc"):
        (top / name).write_text(SECRET)
    for name in (".env.example", "pkg/id_rsa.pub", "config"):
        (top / name).write_text("harmless")
    return top


def state(top):
    """Every file with its content, mode and times."""
    return {str(p): (p.lstat().st_mode, p.lstat().st_mtime_ns, p.read_bytes() if p.is_file() else None)
            for p in sorted(top.rglob("*")) if not p.is_fifo() and not p.is_socket()}


def test_mount_cannot_be_written(project):
    """R4.4, MOUNTS-2"""
    before = state(project)
    found, result = attack("""
d = "/mnt/project"
found["data"] = "E" + content(d + "/data.txt")
for what, f in {
    "write": lambda: os.open(d + "/data.txt", os.O_WRONLY), "append": lambda: open(d + "/data.txt", "a"),
    "truncate": lambda: os.truncate(d + "/data.txt", 4), "create": lambda: open(d + "/new", "x"),
    "mkdir": lambda: os.mkdir(d + "/new"), "unlink": lambda: os.unlink(d + "/new-that-is-not-there"),
    "rename": lambda: os.rename(d + "/data.txt", d + "/data.txt2"), "link": lambda: os.link(d + "/data.txt", d + "/x"),
    "link out": lambda: os.link(d + "/data.txt", "/sandbox/x"), "symlink": lambda: os.symlink("x", d + "/x"),
    "chmod": lambda: os.chmod(d + "/data.txt", 0o644), "utime": lambda: os.utime(d + "/data.txt"),
    "beside": lambda: os.mkdir("/mnt/other"), "fifo": lambda: os.mkfifo(d + "/x"),
    "through /proc": lambda: os.open("/proc/self/fd/%d" % os.open(d + "/data.txt", os.O_RDONLY), os.O_WRONLY),
}.items():
    found[what] = attempt(f)
found["remount"] = sys_call(165, b"none", b"/mnt/project", b"none", 0x20, b"")
found["umount"] = sys_call(166, b"/mnt/project", 2)
found["seen"] = "E" + repr(sorted(os.listdir(d)))
""", mount=[project])
    assert found.pop("data") == "Edata" and "'pkg'" in found.pop("seen")
    assert let_through(found) == {} and state(project) == before, found


def test_mount_shows_no_secret_and_no_link_leads_out(project, public_path):
    """MOUNTS-5; also if a secret is written again while the program runs, as editors do it"""
    code = """
import os, sys
print("ready", flush=True)
sys.stdin.readline()
for top, dirs, files in os.walk("/mnt/project"):
    for name in files:
        path = os.path.join(top, name)
        try:
            print(path, open(path).read())
        except OSError as e:
            print(path, e.strerror)
for path in (".env", "pkg/server.key", "pkg/../.env", "pkg/.git/config"):
    print(os.path.exists("/mnt/project/" + path))
"""
    with start(code, mount=[project], stdin=subprocess.PIPE, json=False) as running:
        assert running.read_line() == "ready"
        (project / "again").write_text(SECRET + " again")
        os.replace(project / "again", project / ".env")
        result = running.finish(b"\n")
    text = result.out.decode()
    assert SECRET not in text and ".netrc" not in text, text
    assert "/mnt/project/data.txt data" in text and "/mnt/project/config harmless" in text
    assert "/mnt/project/.env.example harmless" in text and "id_rsa.pub harmless" in text
    assert text.count("No such file") == 2 and text.endswith("False\n" * 4), text
    shown = belljar("run", "--mount", project, "--mount-secrets", "-l", "bash", "-c", "cat /mnt/project/pkg/server.key")
    assert shown.out.decode() == SECRET


def test_mount_leads_to_no_process_of_the_host(project):
    """MOUNTS-3: a socket and a FIFO in the directory are not those of the host."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(project / "server.sock"))
    os.chmod(project / "server.sock", 0o777)
    listener.listen()
    listener.setblocking(False)
    os.mkfifo(project / "pipe")
    os.chmod(project / "pipe", 0o666)
    reader = os.open(project / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        found, result = attack("""
found["there"] = "E" + repr(stat.S_ISSOCK(os.lstat("/mnt/project/server.sock").st_mode))
found["connect"] = attempt(lambda: socket.socket(socket.AF_UNIX).connect("/mnt/project/server.sock"))
found["datagram"] = attempt(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).connect, "/mnt/project/server.sock")
def write():
    fd = os.open("/mnt/project/pipe", os.O_WRONLY | os.O_NONBLOCK)
    return os.write(fd, b"from the jar")
found["pipe"] = attempt(write)
""", mount=[project])
        assert found.pop("there") == "ETrue" and let_through(found) == {}, found
        with pytest.raises(BlockingIOError):
            listener.accept()
        assert os.read(reader, 100) == b""
    finally:
        os.close(reader)
        listener.close()


@pytest.mark.skipif(not ROOT, reason="device nodes and files of other users need root")
def test_mount_gives_no_right_of_the_host(project):
    """MOUNTS-1, MOUNTS-2: devices, set-uid programs, and files that other users may not read"""
    os.mknod(project / "zero", 0o666 | stat.S_IFCHR, os.makedev(1, 5))
    os.chmod(project / "zero", 0o666)
    (project / "private").write_text(SECRET)
    os.chmod(project / "private", 0o600)
    subprocess.run(["cp", "/usr/bin/id", project / "suid"], check=True)
    os.chmod(project / "suid", 0o4755)
    found, result = attack("""
import subprocess
found["device"] = attempt(lambda: os.open("/mnt/project/zero", os.O_RDONLY))
found["private"] = attempt(lambda: open("/mnt/project/private").read())
found["euid"] = "E" + subprocess.run(["/mnt/project/suid", "-u"], capture_output=True, text=True).stdout.strip()
found["nosuid"] = "E" + repr(bool(os.statvfs("/mnt/project").f_flag & os.ST_NOSUID))
""", mount=[project])
    assert (found.pop("euid"), found.pop("nosuid")) == ("E1000", "ETrue")
    assert let_through(found) == {}, found


@pytest.mark.skipif(not ROOT, reason="a mount on the host needs root")
def test_mount_with_another_mount_beneath_is_refused(project):
    """MOUNTS-4: neither the other file system nor the files that it covers are shown."""
    covered = project / "pkg"
    result = belljar("run", "--mount", project, "-l", "bash", "-c", "ls -R /mnt/project", prefix=[
        "unshare", "-m", "sh", "-c", 'mount -t tmpfs none "$1" && shift && exec "$@"', "sh", str(covered)])
    assert result.status == 125 and b"another file system" in result.err and result.out == b"", result
    assert (covered / "code.py").exists()


@pytest.mark.parametrize("what", ["/", "/proc", "/proc/self", "/sys", "link", "socket", "data.txt", "nothing",
                                  "pkg:a/b", "pkg:..", "pkg:"])
def test_mount_of_anything_else_is_refused(project, what):
    """One sentence, and nothing runs."""
    (project / "through").symlink_to(project / "pkg")
    s = socket.socket(socket.AF_UNIX)
    s.bind(str(project / "socket"))
    s.close()
    argument = what if what.startswith("/") else project / what
    result = belljar("run", "--mount", argument, "-l", "bash", "-c", "echo ran")
    assert result.status == 64 and result.out == b"" and result.err.count(b"\n") == 1, result
    assert b"Traceback" not in result.err and what.split(":")[-1].encode() in result.err
    linked = belljar("run", "--mount", project / "through" / "..", "-l", "bash", "-c", "echo ran")
    assert linked.status == 64 and b"symbolic link" in linked.err


def test_mount_and_a_list_of_commands(project):
    """A file of the mount is data there, and no program: JAR-12."""
    subprocess.run(["cp", "/usr/bin/id", project / "tool"], check=True)
    result = run_sh("cat /mnt/project/data.txt; echo; /mnt/project/tool; /lib64/ld-linux-x86-64.so.2 /mnt/project/tool",
                    mount=[project], allow=["cat"])
    assert result.stdout == "data\n" and "uid=" not in result.out.decode(), result
    free = run_sh("/mnt/project/tool -u", mount=[project])
    assert free.stdout == "1000\n", free


def test_mount_for_an_ordinary_user(project, belljar_for_everybody):
    """Rootless: with the rights of the caller; level process has no mounts and says so."""
    result = run_py("print(open('/mnt/p/data.txt').read())\nprint(open('/mnt/p/.env').read())", mount=[f"{project}:p"],
                    prefix=as_ordinary_user())
    assert result.level == "rootless" and result.stdout == "data\n" and SECRET not in result.message, result
    result = run_py("print(1)", mount=[project], isolation="process")
    assert result.status == 125 and result.out == b"" and b"a mount needs isolation level jar or rootless" in result.err
