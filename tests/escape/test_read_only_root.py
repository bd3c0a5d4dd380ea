"""Files of the host: the runtime, read-only, and nothing else."""

import os

import pytest

from harness import attack, let_through

ABSENT = ["/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/ssh", "/etc/machine-id", "/root", "/sys", "/boot",
          "/var/lib", "/var/log",
          "/run/user", "/media", "/srv", "/lost+found", "/etc/fstab", "/etc/hosts.allow", "/etc/ssl/private",
          "/run/docker.sock", "/var/run/docker.sock", "/.dockerenv"]


@pytest.mark.parametrize("path", ABSENT)
def test_host_path_is_absent(sealed, path):
    found, _ = attack(f"found['x'] = attempt(os.lstat, {path!r})")
    assert found["x"] in ("ENOENT", "ENOTDIR", "EACCES"), found


def test_mnt_of_the_host_is_not_seen(sealed):
    found, _ = attack("found['x'] = [os.listdir('/mnt'), attempt(os.mkdir, '/mnt/x')]")
    assert found["x"] == [[], "EROFS"], found


def test_opt_holds_nothing_but_ours(sealed):
    found, _ = attack("found['x'] = os.listdir('/opt')")
    assert found["x"] == ["belljar"], found


def test_nothing_of_the_runtime_can_be_changed():
    """Every directory of the root is tried, and every way of changing."""
    found, _ = attack("""
tried, through = 0, []
import itertools
for top, dirs, names in itertools.chain(os.walk("/"), os.walk("/usr")):
    if top.startswith(("/proc", "/sandbox", "/tmp", "/dev/shm")) or top.count("/") > 3: dirs.clear(); continue
    tried += 1
    for how, f in (("create", lambda: os.open(top + "/jartest-new", os.O_CREAT | os.O_WRONLY)),
                   ("mkdir", lambda: os.mkdir(top + "/jartest-dir")),
                   ("chmod", lambda: os.chmod(top, stat.S_IMODE(os.stat(top).st_mode))),
                   ("utime", lambda: os.utime(top, ns=(os.stat(top).st_atime_ns, os.stat(top).st_mtime_ns))),
                   ("link", lambda: os.symlink("x", top + "/jartest-ln"))):
        if attempt(f).startswith("ok"): through.append((how, top))
    for n in names[:3]:
        path = os.path.join(top, n)
        if not os.path.islink(path) and os.path.isfile(path):
            if attempt(opened, path, os.O_WRONLY).startswith("ok"): through.append(("write", path))
found["tried"], found["through"] = tried, through[:20]
""", timeout="60s", cpu_time="60s")
    assert found["tried"] > 50 and found["through"] == [], found


def test_setuid_programs_gain_nothing():
    """no_new_privs, nosuid, and the file's owner is nobody's here."""
    found, _ = attack("""
import subprocess
suid = []
for d in ("/usr/bin", "/usr/sbin"):
    for n in os.listdir(d):
        try:
            if os.stat(os.path.join(d, n)).st_mode & 0o6000: suid.append(os.path.join(d, n))
        except OSError: pass
found["suid"] = suid
found["status"] = dict(l.split(":", 1) for l in content("/proc/self/status").splitlines()
                       if l.startswith(("Cap", "NoNewPrivs", "Seccomp")))
for s in suid:
    if s.endswith(("/su", "/mount", "/newgrp", "/passwd")):
        try: r = subprocess.run([s, "-c", "id -u"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                timeout=5); found[s] = r.stdout.strip()
        except (OSError, subprocess.TimeoutExpired): found[s] = ""
import shutil
shutil.copyfile("/usr/bin/id", "own"); fd = os.open("own", 0); os.fchmod(fd, 0o6755); os.close(fd)
try: found["own"] = subprocess.run(["./own", "-u"], capture_output=True, text=True).stdout.strip()
except OSError as e: found["own"] = name_of(e.errno)
""")
    status = {k: v.strip() for k, v in found.pop("status").items()}
    assert not status or all(int(status[c], 16) == 0
                             for c in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")), status
    assert not status or (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2"), status
    assert found.pop("suid")
    assert "0" not in found.values(), found


def test_ambient_and_bounding_sets_cannot_be_regained():
    found, _ = attack("""
found["capset"] = sys_call(126, ctypes.c_char_p(struct.pack("<II", 0x20080522, 0)),
                           ctypes.c_char_p(struct.pack("<6I", *[0xffffffff] * 6)))
for cap in range(41): found[f"ambient {cap}"] = sys_call(157, 47, 2, cap, 0, 0)
found["securebits"] = sys_call(157, 28, 0, 0, 0, 0)
found["nnp off"] = sys_call(157, 38, 0, 0, 0, 0)
""")
    assert not let_through(found), let_through(found)


def test_host_kernel_is_told_as_little_as_possible(sealed):
    found, _ = attack("""
found["dmesg"] = sys_call(103, 3, ctypes.create_string_buffer(4096), 4096)
for path in ("/proc/kallsyms", "/proc/config.gz", "/proc/modules", "/proc/meminfo", "/sys/kernel", "/proc/version",
             "/boot"):
    found[path] = attempt(os.stat, path)
""")
    assert not let_through(found), found
    assert os.path.exists("/proc/meminfo")
