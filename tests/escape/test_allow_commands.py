"""A shell whose commands are listed: nothing else of the machine is executed, and no code that is in no listed file.

Each defence was taken out once, and these tests failed:
    / may be read                          loader_starts_nothing_that_is_not_listed, copy_of_a_program,
                                           no_program_by_a_descriptor, nothing_but_what_is_needed_can_be_read
    / may be read and executed             the same, listed_commands_run_and_no_others,
                                           everything_that_a_command_starts, another_command_by_every_way,
                                           links_lead_to_what_they_name
    scratch is mounted without noexec      loader_starts_nothing_of_the_guests, copy_of_a_program,
                                           data_does_not_become_code
    and may be executed for Landlock       the same, script_with_an_interpreter
    /usr/share is mounted without noexec   data_does_not_become_code, nothing_writable_can_be_executed
    system calls are those of other jars   code_made_by_relocations, memory_files, data_does_not_become_code
    /proc may be written for Landlock      memory_of_a_process_cannot_be_written
"""

import platform
import shutil

import pytest

import hostile_elf
from harness import run, run_sh

LOADER = "/lib64/ld-linux-x86-64.so.2"
NONE = [":"]  # a list that allows only the commands inside the shell


@pytest.fixture(autouse=True)
def _sealed(sealed, here):
    if platform.machine() != "x86_64":
        pytest.skip("the attacks are written for x86_64")
    if "landlock" not in here.layers:
        pytest.skip("a list of commands needs Landlock, which this kernel lacks")


def listed(code, *allow, **opts):
    return run_sh(code, allow=allow or NONE, timeout="30s", **opts)


def python(code, *allow, **opts):
    """Python is on the list: it can make every system call there is."""
    quoted = code.replace("'", "'\\''")
    return listed(f"python3 -c '{quoted}'\n", "python3", *allow, **opts)


def test_listed_commands_run_and_no_others():
    r = listed("ls /etc/hostname; find /etc -name hostname; cat /etc/hostname; echo $?", "ls", "find")
    assert r.stdout == "/etc/hostname\n/etc/hostname\n126\n", r
    assert "/usr/bin/cat: Permission denied" in r.stderr, r


def test_empty_list_leaves_the_shell_alone():
    r = listed('x=1; printf "%s\\n" $((x+1)); [[ -e /usr/bin/ls ]] && echo there; for f in /etc/host*; do echo "$f"; '
               'done; '
               "ls; echo $?; nosuch; echo $?; while read -r l; do echo \"$l\"; done </etc/hostname")
    assert r.stdout == "2\nthere\n/etc/hostname\n/etc/hosts\n126\n127\nbelljar\n", r


def test_everything_that_a_command_starts_is_held_to_the_list():
    r = listed("""
        find /etc/hostname -exec cat {} \\; ; echo "find $?"
        echo /etc/hostname | xargs cat; echo "xargs $?"
        env cat /etc/hostname; echo "env $?"
        timeout 5 cat /etc/hostname; echo "timeout $?"
        nice cat /etc/hostname; echo "nice $?"
        awk 'BEGIN { system("cat /etc/hostname"); "cat /etc/hostname" | getline x; print "awk " x }'
        find /etc/hostname -exec ls {} \\;
        echo /etc/hosts | xargs ls
        ls / | cat | ls /etc/hostname
    """, "find", "xargs", "env", "timeout", "nice", "awk", "ls")
    assert "belljar" not in r.stdout, r
    assert r.stdout.endswith("awk \n/etc/hostname\n/etc/hosts\n/etc/hostname\n"), r
    for line in ("xargs 126", "env 126", "timeout 126", "nice 126"):
        assert line in r.stdout, r


def test_another_command_by_every_way_a_shell_has():
    r = listed("""
        try() { "$@" </dev/null && echo "through: $*"; }
        try cat /etc/hostname; try /bin/cat /etc/hostname
        try command cat /etc/hostname; try exec -a ls cat /etc/hostname
        hash -p /usr/bin/cat ls; try ls /etc/hostname; hash -r
        try /proc/self/root/usr/bin/cat /etc/hostname
        cd /usr/bin; try ./cat /etc/hostname; cd /sandbox
        try bash -c 'cat /etc/hostname'; try bash -c 'exec cat /etc/hostname'
        (exec 7</usr/bin/cat) && echo through: read
        try . /usr/bin/ldd
        enable -f /usr/lib/bash/sleep sleep && echo through: enable
        coproc cat /etc/hostname; read -r x <&"${COPROC[0]}" && echo through: coproc
        cat <(cat /etc/hostname) && echo through: substitution
        PATH=/usr/bin try cat /etc/hostname
        trap 'cat /etc/hostname && echo through: trap' EXIT
    """, "ls")
    assert "through" not in r.stdout and "belljar" not in r.stdout, r


def test_links_lead_to_what_they_name():
    r = listed("""
        ln -s /usr/bin/cat ls; PATH=/sandbox:$PATH; hash -r; ls /etc/hostname; echo $?
        ln /usr/bin/cat hard; echo $?; ln -s /usr/bin/ls ours; ./ours /etc/hostname
    """, "ln", "ls")
    assert r.stdout == "126\n1\n/etc/hostname\n", r


def test_loader_starts_nothing_that_is_not_listed():
    r = listed(f"{LOADER} /usr/bin/cat /etc/hostname; echo $?; {LOADER} --preload '' /bin/cat /etc/hostname; echo $?; "
               f"{LOADER} /usr/bin/ls /etc/hostname", "ls")
    assert r.stdout == "127\n127\n/etc/hostname\n", r
    assert "Permission denied" in r.stderr, r


def test_loader_starts_nothing_of_the_guests(public_path):
    shutil.copy("/usr/bin/cat", public_path / "tool")
    shutil.copy("/lib/x86_64-linux-gnu/libc.so.6", public_path / "libc.so.6")
    r = listed(f"""
        {LOADER} /sandbox/tool /etc/hostname; echo $?
        LD_LIBRARY_PATH=/sandbox ls /etc/hostname; echo $?
        LD_PRELOAD=/sandbox/libc.so.6 ls /etc/hostname; LD_AUDIT=/sandbox/libc.so.6 ls /etc/hostname
        enable -f /sandbox/libc.so.6 x; echo $?
    """, "ls", file=[f"{public_path}/tool", f"{public_path}/libc.so.6"])
    assert r.stdout == "127\n127\n/etc/hostname\n/etc/hostname\n1\n", r
    assert r.stderr.count("failed to map segment") == 5, r


def test_code_made_by_relocations_does_not_run(public_path):
    """No file is mapped as code: the loader is told to make it, see hostile_elf.py."""
    (public_path / "evil").write_bytes(hostile_elf.loader_trick())
    code = f"""
        {LOADER} /sandbox/evil; echo $?
        (enable -f /sandbox/evil x); echo $?
        LD_PRELOAD=/sandbox/evil ls /etc/hostname; LD_AUDIT=/sandbox/evil ls /etc/hostname
        cd /tmp; {LOADER} ../sandbox/evil; {LOADER} --library-path /sandbox --preload evil /usr/bin/ls /etc/hostname
    """
    free = run_sh(code, file=[f"{public_path}/evil"])
    assert free.stdout.count("through") >= 4, f"the attack itself does not work any more: {free!r}"
    r = listed(code, "ls", file=[f"{public_path}/evil"])
    assert "through" not in r.stdout, r
    assert r.stdout.startswith("127\n1\n"), r


def test_copy_of_a_program_is_not_a_program():
    r = listed("""
        for d in /sandbox /tmp /dev/shm; do
            cp /usr/bin/ls $d/copy; chmod 755 $d/copy; $d/copy /etc/hostname; echo $?
            """ + LOADER + """ $d/copy /etc/hostname; echo $?
        done
        cp /usr/bin/cat . ; echo $?
    """, "ls", "cp", "chmod")
    assert r.stdout == "126\n127\n" * 3 + "1\n", r


def test_script_with_an_interpreter_is_not_a_program():
    r = listed("""
        printf '#!/bin/bash\\necho through\\n' >s; printf '#!/usr/bin/ls\\n' >t; chmod 755 s t
        ./s; echo $?; ./t; echo $?; . ./s; bash ./s; bash <s; bash /dev/stdin <s
    """, "chmod", "ls")
    assert r.stdout == "126\n126\n" + "through\n" * 4, r


def test_script_that_is_listed_needs_its_interpreter():
    refused = listed("zcat x", "zcat")
    assert refused.status == 125 and "script for '/bin/sh': list 'sh' too" in refused.message, refused
    r = listed("printf x >f; gzip f; zcat f.gz; echo; head f.gz; echo $?; ldd /usr/bin/cat", "zcat", "gzip", "sh",
               "ldd", "cat")
    assert r.stdout.startswith("""\
x
126
""") and "libc.so.6" in r.stdout, r  # ldd is a script for bash, which is the shell


def test_memory_files_are_not_to_be_had():
    r = python("""
import ctypes, os
try: print("through", os.memfd_create("x"))
except OSError as e: print(e.errno)
libc = ctypes.CDLL(None, use_errno=True)
print(libc.syscall(319, b"x", 0), libc.syscall(319, b"x", 16), libc.syscall(447, 0))
""")
    assert r.stdout == "38\n-1 -1 -1\n", r


def test_memory_of_a_process_cannot_be_written():
    r = python("""
import os
for path in ("/proc/self/mem", "/proc/%d/mem" % os.getppid(), "/proc/thread-self/mem"):
    try: os.open(path, os.O_RDWR); print("through", path)
    except OSError as e: print(e.errno)
""")
    assert r.stdout == "13\n" * 3, r


def test_data_does_not_become_code():
    r = python("""
import ctypes, mmap, os
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
R, W, X, PRIVATE, SHARED, ANON = 1, 2, 4, 2, 1, 32
def map(prot, flags, fd=-1):
    p = libc.mmap(None, 4096, prot, flags, fd, 0)
    return "through" if p != 2**64 - 1 else ctypes.get_errno()
own = os.open("/usr/bin/python3.11" if os.path.exists("/usr/bin/python3.11") else "/usr/bin/python3", os.O_RDONLY)
zero = os.open("/dev/zero", os.O_RDWR)
open("f", "wb").write(bytes(4096)); f = os.open("f", os.O_RDWR)
share = os.open("/usr/share/zoneinfo/UTC", os.O_RDONLY)
print("rx own", map(R | X, PRIVATE, own) == "through")
print("rwx own", map(R | W | X, PRIVATE, own))
print("anonymous", map(R | X, PRIVATE | ANON), map(R | W | X, PRIVATE | ANON), map(X, SHARED | ANON))
print("zero", map(R | W | X, PRIVATE, zero), map(R | W | X, SHARED, zero))
# mapped as code and shared, it could be mapped again by mremap() from nothing, and that one be written
print("zero rx", map(R | X, PRIVATE, zero), map(R | X, SHARED, zero))
print("file", map(R | X, PRIVATE, f), map(R | X, SHARED, f))
print("share", map(R | X, PRIVATE, share), map(X, PRIVATE, share))
page = libc.mmap(None, 4096, R | W, PRIVATE | ANON, -1, 0)
print("mprotect", [libc.mprotect(ctypes.c_void_p(page), 4096, p) for p in (R | X, X, R | W | X)])
print("pkey_mprotect", libc.syscall(329, ctypes.c_void_p(page), 4096, R | X, -1))
libc.shmat.restype = ctypes.c_void_p
segment = libc.shmget(0, 4096, 0o1700)
print("shmat", libc.shmat(segment, None, 0o100000) == 2**64 - 1, libc.shmat(segment, None, 0) != 2**64 - 1)
print("personality", libc.personality(0x0400000))
""")
    assert r.stdout == ("rx own True\nrwx own 13\nanonymous 13 13 13\nzero 13 13\nzero rx 1 1\nfile 1 1\nshare 1 1\n"
                        "mprotect [-1, -1, -1]\npkey_mprotect -1\nshmat True True\npersonality -1\n"), r


def test_no_program_by_a_descriptor():
    """Landlock lets anybody have a path (O_PATH); to execute it is another thing."""
    r = python("""
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
argv = (ctypes.c_char_p * 3)(b"cat", b"/etc/hostname", None)
fd = os.open("/usr/bin/cat", os.O_PATH)
def tried(*call):
    pid = os.fork()
    if pid == 0:
        libc.syscall(*call)
        os._exit(ctypes.get_errno())
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
empty = (ctypes.c_char_p * 1)(None)
print(tried(322, fd, b"", argv, empty, 0x1000), tried(59, b"/proc/self/fd/%d" % fd, argv, empty),
      tried(322, -100, b"/usr/bin/cat", argv, empty, 0), tried(134, b"/usr/bin/cat"))
try: os.open("/proc/self/fd/%d" % fd, os.O_RDONLY)
except OSError as e: print(e.errno)
""")
    assert r.stdout == "13 13 13 1\n13\n", r


def test_nothing_but_what_is_needed_can_be_read():
    r = python("""
import os
seen = {}
for name in ("bin", "sbin", "lib/git-core", "lib/postgresql", "lib/gcc", "libexec", "local/bin"):
    for where, _, files in os.walk("/usr/" + name):
        for f in files:
            path = os.path.join(where, f)
            try:
                os.close(os.open(path, os.O_RDONLY))
                seen[os.path.realpath(path)] = 1
            except OSError: pass
print(sorted(p for p in seen if "/share/" not in p and "/etc/" not in p and "python3" not in p))
""")
    # the loader and bash by its own names; scripts that are links into Python's library are Python's
    assert set(eval(r.stdout)) <= {"/usr/bin/bash", "/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"}, r


def test_nothing_writable_can_be_executed_whatever_its_mount():
    r = listed("while read -r line; do set -- $line; case $5 in /sandbox|/tmp|/dev/shm|/usr/share|/etc|/proc|/dev) "
               "case $6 in *noexec*) echo $5 yes;; *) echo $5 no;; esac;; esac; done </proc/self/mountinfo")
    assert sorted(r.stdout.split("\n")) == ["", "/dev yes", "/dev/shm yes", "/etc yes", "/proc yes", "/sandbox yes",
                                            "/tmp yes",
                                            "/usr/share yes"] or "/dev no" in r.stdout, r
    assert r.stdout.replace("/dev no", "").count("no\n") == 0, r


@pytest.mark.parametrize("name", ["foo-bar-none", "ls -l", "/bin/ls", "../ls", "", "-ls", "l\ns"])
def test_what_is_no_command_is_refused_by_name(name):
    r = listed("ls", "ls", name)
    assert r.status == 125, r
    assert "command" in r.message and "belljar" in r.message, r


def test_list_is_refused_where_it_cannot_be_held():
    r = listed("ls", "ls", isolation="process")
    assert r.status == 125 and "needs isolation level jar or rootless" in r.message, r
    r = listed("ls", "ls", writable_root=True)
    assert r.status == 125 and "read-only" in r.message, r
    r = run("print(1)", "python", allow=["ls"])
    assert r.status == 125 and "is only for shells (bash" in r.message and "'python'" in r.message, r


def test_rootless_holds_the_list_as_well(public_path):
    (public_path / "evil").write_bytes(hostile_elf.loader_trick())
    r = listed(f"ls /etc/hostname; cat /etc/hostname; {LOADER} /usr/bin/cat /etc/hostname; {LOADER} /sandbox/evil; "
               "cp /usr/bin/ls /tmp/x; /tmp/x; echo $?", "ls", "cp", isolation="rootless", file=[f"{public_path}/evil"])
    assert r.stdout == "/etc/hostname\n126\n", r


def test_programs_that_make_code_still_work():
    """Node makes machine code: it gets memory for that code, and still starts no other program."""
    r = listed("""node -e '
        const c = require("child_process");
        console.log([..."abc"].map(x => x + x).join(), c.spawnSync("/usr/bin/cat", ["/etc/hostname"]).error.code,
                    c.spawnSync("/usr/bin/ls", ["/etc/hostname"]).stdout.toString().trim())'""", "node", "ls",
                    memory="512m")
    assert r.stdout == "aa,bb,cc EACCES /etc/hostname\n", r


@pytest.mark.parametrize("allow, code, out", [
    (("grep",), "echo abc | grep -oP 'b(?=c)'", "b"),
    (("perl",), "perl -MPOSIX=floor -MList::Util=sum -e 'print floor(sum(1.5, 2))'", "3"),
    (("awk", "sort", "sed", "wc"), "printf 'b\\na\\n' | sort | sed s/a/c/ | awk '{ print $1 }' | wc -l", "2"),
    (("python3",), "python3 -c 'import ssl, sqlite3, ctypes, json; print(json.dumps([1]))'", "[1]"),
    (("date",), "TZ=Asia/Tokyo date +%Z", "JST"),
    (("id",), "id -un", "sandbox"),
    (("cd", "export", "echo", "test"), "cd /tmp; export a=1; echo $a", "1"),
], ids=lambda v: v[0] if isinstance(v, tuple) else "")
def test_what_commands_need_comes_with_them(allow, code, out):
    r = listed(code, *allow)
    assert r.stdout.strip() == out and r.verdict == "ok", r


# ---- zsh ----


@pytest.fixture
def zsh():
    r = run("print $((1 + 1))", "zsh", name="main.zsh")
    if r.status == 125:
        pytest.skip(f"no zsh here: {r.message}")
    assert r.stdout == "2\n", r
    return lambda code, *allow, **opts: run(code, "zsh", name="main.zsh", allow=allow or NONE, timeout="30s", **opts)


def test_zsh_is_held_to_the_list(zsh):
    r = zsh("ls /etc/hostname; cat /etc/hostname; print $?; nosuch; print $?", "ls")
    assert r.stdout == "/etc/hostname\n126\n127\n" and "permission denied" in r.stderr, r


def test_zsh_has_its_modules_and_they_lead_nowhere(zsh, public_path):
    (public_path / "evil.so").write_bytes(hostile_elf.loader_trick())
    r = zsh(f"""
        zmodload zsh/datetime zsh/mathfunc zsh/system zsh/stat zsh/files zsh/regex &&
            print $((int(sqrt(16)))) $(( EPOCHSECONDS > 0 ))
        sysopen -rw -u fd /proc/self/mem && print through: mem
        sysopen -r -u fd /usr/bin/cat && print through: read
        zmodload zsh/zpty && zpty x 'cat /etc/hostname' && zpty -r x line && print through: $line
        module_path=(/sandbox) zmodload evil && print through: module
        zmodload -R zsh/files 2>/dev/null
        hash other=/usr/bin/cat; other /etc/hostname && print through: hash
        =cat /etc/hostname && print through: =
        command -p cat /etc/hostname && print through: command
        zcompile -U x /etc/hostname; emulate sh -c 'cat /etc/hostname' && print through: emulate
        ARGV0=ls cat /etc/hostname && print through: argv0
        {LOADER} /usr/bin/cat /etc/hostname && print through: loader
        print -l /etc/host*(:t)
    """, "ls", file=[f"{public_path}/evil.so"])
    assert r.stdout == "4 1\nhostname\nhosts\n", r
