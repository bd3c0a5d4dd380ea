"""Compiled programs at the terminal, without a service: compiled once, kept in the caller's own cache (R1.8)."""

import fcntl
import os
import shutil
import signal
import stat
import time
from pathlib import Path

import pytest

import compiled
import harness
from compiled import LANGUAGES, NAMES
from harness import ORDINARY_UID, ROOT, Running, as_ordinary_user, belljar, eventually, public_dir
from service import Service, in_threads

C_HELLO = compiled.HELLO["c"]
C_SEVEN = compiled.EXIT_7["c"]
GIB = 1 << 30


class Cache:
    """A cache directory, and the command that uses it."""

    def __init__(self, path):
        self.path = path
        self.base = path / "xdg"
        self.programs = self.base / "belljar" / "programs"

    def argv(self, code, *options, lang="c", json=True):
        folder = self.path / f"code-{time.monotonic_ns()}"
        folder.mkdir()
        folder.chmod(0o755)
        (folder / NAMES[lang]).write_text(code)
        return ["run", "--local", "-l", lang, *(["--json"] if json else []), *options, folder / NAMES[lang]]

    def environ(self, **other):
        return {**os.environ, "XDG_CACHE_HOME": str(self.base), **other}

    def run(self, code, *options, lang="c", json=True, prefix=(), environ=None, within=90):
        return belljar(*self.argv(code, *options, lang=lang, json=json), environ=environ or self.environ(),
                       prefix=prefix,
                       within=within)

    def compile(self, code, *options, **how):
        """The part of the result about the compiler. The program itself ended well."""
        r = self.run(code, *options, **how)
        assert (r.verdict, r.stdout, r.err) == ("ok", "hello, world\n", b""), r
        return r.json["compile"]

    def kept(self):
        return sorted(p.name for p in self.programs.iterdir()) if self.programs.exists() else []


@pytest.fixture
def cache():
    path = public_dir()
    yield Cache(path)
    shutil.rmtree(path, ignore_errors=True)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_second_run_at_the_terminal_skips_the_compiler(cache, lang):
    first = cache.compile(compiled.HELLO[lang], lang=lang)
    # A compiler that was asked would not get far in this time, and limits are not in the key.
    again = cache.compile(compiled.HELLO[lang], "--compile-limit", "timeout=1ms", lang=lang)
    assert (first["cached"], again["cached"]) == (False, True)
    assert first["key"] == again["key"] and cache.kept() == [first["key"]]
    assert first["usage"] == again["usage"] and first["stderr"] == again["stderr"], "what it cost when it was done"
    plain = cache.run(compiled.HELLO[lang], lang=lang, json=False)
    assert (plain.status, plain.out, plain.err) == (0, b"hello, world\n", b""), plain


def test_cache_of_the_terminal_is_the_callers_alone(cache):
    key = cache.compile(C_HELLO)["key"]
    for path, mode in ((cache.base, 0o700), (cache.base / "belljar", 0o700), (cache.programs, 0o700),
                       (cache.programs / key, 0o600)):
        st = path.stat()
        assert (st.st_uid, stat.S_IMODE(st.st_mode)) == (os.geteuid(), mode), path


def test_any_change_is_another_program_at_the_terminal(cache):
    header = cache.path / "beside.h"
    header.write_text("")
    asks = [(C_HELLO,), (C_HELLO + "\n",), (C_HELLO, "--compiler-arg=-DN=2"), (C_HELLO, "--compiler-arg=-DN=3"),
            (C_HELLO, "--file", header)]
    seen = [cache.compile(*ask) for ask in asks]
    assert not any(c["cached"] for c in seen) and len({c["key"] for c in seen}) == len(asks)
    # Inputs that the compiler does not see make no difference.
    assert cache.compile(C_HELLO, "--env", "A=b", "--timeout", "9s", "--memory", "100m")["cached"]


def test_cached_program_at_the_terminal_has_its_own_files_stdin_and_arguments(cache):
    code = """\
#include <stdio.h>
int main(int c, char **v) { int x; scanf("%d", &x); printf("%s %d\\n", v[1], x); return x; }
"""
    for i in (3, 4):
        argv = [*cache.argv(code), "--", f"arg{i}"]
        r = belljar(*argv, stdin=f"{i}\n".encode(), environ=cache.environ())
        assert (r.stdout, r.status, r.json["compile"]["cached"]) == (f"arg{i} {i}\n", i, i == 4), r


def test_warnings_of_a_program_from_the_terminals_cache_are_told_again(cache):
    code = "int main(void) { int unused; return 0; }\n"
    first, again = (cache.run(code).json for _ in range(2))
    assert "unused" in first["compile"]["stderr"] and (first["stderr"], again["stderr"]) == ("", "")
    assert again["compile"] == {**first["compile"], "cached": True}


def test_what_does_not_compile_is_not_kept_at_the_terminal(cache):
    for _ in range(2):
        r = cache.run("int main(void) { return nothing; }\n").json
        assert (r["verdict"], r["compile"]["cached"]) == ("compile_error", False), r
    assert cache.kept() == []


@pytest.mark.parametrize("fills, kept", [("", 1), ("head -c 100m /dev/zero >fill 2>/dev/null; true", 0)])
def test_product_of_a_compiler_that_met_a_limit_is_not_kept(cache, fills, kept):
    """It ended well, but may have made another program than it would with more room."""
    (cache.path / "copied.lang").write_text(f"""name = copied
extensions = .copied
main_file = main.copied
command = /usr/bin/bash program
version = /usr/bin/bash --version
install = true
compile = /usr/bin/bash -c 'cp {{file}} program; {fills}'
products = program
""")
    source = cache.path / "main.copied"
    source.write_text("echo hello\n")
    for again in (False, True):
        r = belljar("run", "--local", "--json", "--compile-limit", "disk=4m", source,
                    environ=cache.environ(BELLJAR_LANGUAGES=str(cache.path)))
        c = r.json["compile"]
        assert (r.verdict, r.stdout, c["verdict"]) == ("ok", "hello\n", "ok"), r
        assert c["limits_hit"] == ([] if kept else ["disk"]) and c["cached"] == (again and kept == 1), r
    assert len(cache.kept()) == kept, cache.kept()


def test_checked_types_are_not_checked_again_at_the_terminal(cache):
    folder = cache.path / "ts"
    folder.mkdir()
    (folder / "main.ts").write_text("const x: number = 1;\nconsole.log(x);\n")
    argv = ["run", "--local", "--json", "--check-types", folder / "main.ts"]
    seen = [belljar(*argv, environ=cache.environ()) for _ in range(2)]
    assert [(r.stdout, r.json["compile"]["cached"]) for r in seen] == [("1\n", False), ("1\n", True)], seen


def test_program_is_kept_while_it_runs(cache):
    code = '#include <stdio.h>\n#include <unistd.h>\nint main(void) { puts("go"); fflush(stdout); sleep(30); }\n'
    with Running([harness.BELLJAR, *cache.argv(code, "--timeout", "40s", json=False)],
                 environ=cache.environ()) as running:
        assert running.read_line() == "go"
        assert eventually(lambda: len(cache.kept()) == 1)


# ---- not wanted ----

def test_no_cache_compiles_anew_and_keeps_nothing(cache):
    for _ in range(2):
        c = cache.compile(C_HELLO, "--no-cache")
        assert (c["cached"], c["key"]) == (False, None)
    assert not cache.base.exists()
    key = cache.compile(C_HELLO)["key"]
    before = (cache.programs / key).stat()
    assert cache.compile(C_HELLO, "--no-cache")["cached"] is False, "though it is there"
    after = (cache.programs / key).stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_no_cache_means_the_same_to_a_service():
    with Service() as s:
        seen = [s.run(code=C_HELLO, language="c", no_cache=True) for _ in range(2)]
        assert [(r["stdout"], r["compile"]["cached"], r["compile"]["key"])
                for r in seen] == [("hello, world\n", False, None)] * 2
        assert not list((s.data / "programs").iterdir())
        folder = public_dir()
        (folder / "main.c").write_text(C_HELLO)
        environ = {**os.environ, "BELLJAR_STATE": str(s.state)}
        for options, cached in (([], False), ([], True), (["--no-cache"], False)):
            r = belljar("run", "--json", *options, folder / "main.c", environ=environ)
            assert (r.stdout, r.json["compile"]["cached"]) == ("hello, world\n", cached), (options, r)
        assert len(s.get("/v1/runs").json["runs"]) == 5, "or it was not the service"
        broken = [s.run(code="int main(void) { return nothing; }", language="c", no_cache=True) for _ in range(2)]
        assert [r["compile"]["cached"] for r in broken] == [False, False]
        shutil.rmtree(folder)


def test_language_that_is_not_compiled_leaves_no_cache(cache):
    r = belljar("run", "--local", "-l", "python", "-", stdin=b"print(1)", environ=cache.environ())
    assert (r.status, r.out) == (0, b"1\n") and not cache.base.exists()


# ---- damage ----

def harmed(path, harm, other):
    whole = path.read_bytes()
    at = len(whole) // 2
    path.unlink()
    if harm == "link":
        path.symlink_to(other)
    elif harm == "fifo":
        os.mkfifo(path, 0o600)
    else:
        path.write_bytes({"cut": whole[:-1], "emptied": b"", "longer": whole + b"x", "swapped": other.read_bytes(),
                          "changed": whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:]}.get(harm, whole))
        path.chmod({"writable": 0o622}.get(harm, 0o600))
        if harm == "owner":
            os.chown(path, ORDINARY_UID, -1)


@pytest.mark.parametrize("harm",
                         ["cut", "emptied", "longer", "changed", "swapped", "link", "fifo", "writable", "owner"])
def test_damaged_program_at_the_terminal_is_compiled_anew_and_replaced(cache, harm):
    if harm == "owner" and not ROOT:
        pytest.skip("giving a file away takes root")
    path = cache.programs / cache.compile(C_HELLO)["key"]
    other = cache.programs / cache.run(C_SEVEN).json["compile"]["key"]
    harmed(path, harm, other)
    assert cache.compile(C_HELLO)["cached"] is False
    assert cache.compile(C_HELLO)["cached"] is True, "it was replaced"
    st = path.lstat()
    assert (st.st_uid, st.st_mode) == (os.geteuid(), stat.S_IFREG | 0o600)
    assert cache.run(C_SEVEN).status == 7, "the other is as it was"


# ---- directories that cannot be used ----

def file_in_its_place(cache):
    cache.base.write_text("a file")


def file_in_the_place_of_ours(cache):
    cache.base.mkdir()
    (cache.base / "belljar").write_text("a file")


def link_in_its_place(cache):
    (cache.base / "belljar").mkdir(parents=True)
    (cache.path / "elsewhere").mkdir(mode=0o700)
    cache.programs.symlink_to(cache.path / "elsewhere")


def link_in_the_place_of_ours(cache):
    cache.base.mkdir()
    (cache.path / "elsewhere").mkdir(mode=0o700)
    (cache.base / "belljar").symlink_to(cache.path / "elsewhere")


def open_to_others(cache):
    cache.programs.mkdir(parents=True)
    cache.programs.chmod(0o750)


def ours_is_open_to_others(cache):
    cache.programs.mkdir(parents=True, mode=0o700)
    (cache.base / "belljar").chmod(0o770)


def somebody_elses(cache):
    cache.programs.mkdir(parents=True, mode=0o700)
    cache.programs.chmod(0o700)
    os.chown(cache.programs, ORDINARY_UID, -1)


def base_is_somebody_elses(cache):
    """As with sudo and the user's HOME: nothing of root's appears there."""
    cache.base.mkdir()
    os.chown(cache.base, ORDINARY_UID, -1)


def nowhere(cache):
    cache.base = Path("/proc/nonexistent/cache")


UNUSABLE = [file_in_its_place, file_in_the_place_of_ours, link_in_its_place, link_in_the_place_of_ours, open_to_others,
            ours_is_open_to_others, somebody_elses, base_is_somebody_elses, nowhere]


@pytest.mark.parametrize("harm", UNUSABLE, ids=lambda f: f.__name__)
def test_directory_that_cannot_be_used_is_none(cache, harm):
    if harm in (somebody_elses, base_is_somebody_elses) and not ROOT:
        pytest.skip("giving a directory away takes root")
    old_umask = os.umask(0o022)
    harm(cache)
    os.umask(old_umask)
    before = sorted(p for p in cache.path.rglob("*") if "code-" not in str(p))
    for _ in range(2):
        c = cache.compile(C_HELLO)
        assert (c["cached"], c["key"]) == (False, None), c
    assert sorted(p for p in cache.path.rglob("*") if "code-" not in str(p)) == before, "and nothing is put there"


def test_without_home_there_is_no_cache_and_no_failure(cache):
    bare = ["env", "-u", "XDG_CACHE_HOME", "-u", "HOME"]
    assert [cache.compile(C_HELLO, prefix=bare)["cached"] for _ in range(2)] == [False, False]


@pytest.mark.parametrize("elsewhere", ["", "relative/cache"])
def test_home_is_where_it_is_kept_unless_something_else_is_said(cache, elsewhere):
    home = cache.path / "home"
    home.mkdir()
    environ = cache.environ(HOME=str(home), XDG_CACHE_HOME=elsewhere)
    assert [cache.compile(C_HELLO, environ=environ)["cached"] for _ in range(2)] == [False, True]
    assert len(list((home / ".cache/belljar/programs").iterdir())) == 1
    assert not Path("relative").exists()


def test_home_that_is_not_there_is_not_made(cache):
    home = cache.path / "home"
    environ = cache.environ(HOME=str(home), XDG_CACHE_HOME="")
    assert cache.compile(C_HELLO, environ=environ)["cached"] is False and not home.exists()


def test_full_disk_is_no_failure(cache, as_root):
    """The file system takes nothing more: the program runs, and nothing half is there."""
    cache.base.mkdir()
    full = ["unshare", "-m", "sh", "-c",
            f'mount -t tmpfs -o size=8k,mode=700 none {cache.base} && "$@"; s=$?; find {cache.base} -type f >&2; exit '
            f'$s', "sh"]
    r = cache.run(C_HELLO, prefix=full)
    assert (r.status, r.stdout, r.err) == (0, "hello, world\n", b""), r


# ---- other users ----

def test_ordinary_user_has_a_cache_of_their_own(cache, as_root):
    cache.base.mkdir()
    os.chown(cache.base, ORDINARY_UID, ORDINARY_UID)
    user = as_ordinary_user()
    seen = [cache.compile(C_HELLO, prefix=user) for _ in range(2)]
    assert [c["cached"] for c in seen] == [False, True]
    assert (cache.programs / seen[0]["key"]).stat().st_uid == ORDINARY_UID
    root_too = cache.compile(C_HELLO)
    assert root_too["cached"] is False and cache.kept() == [seen[0]["key"]], "root trusts nothing of theirs"


def test_users_do_not_see_each_others(cache, as_root):
    cache.compile(C_HELLO)
    cache.base.chmod(0o755)
    assert cache.compile(C_HELLO, prefix=as_ordinary_user())["cached"] is False
    assert len(cache.kept()) == 1


def test_keeper_has_nothing_of_the_cache_while_a_program_runs(cache, as_root):
    """The jar of a compiled program gets the files of its own run, and not the directory of the cache."""
    from test_privileges import keeper_of
    code = '#include <stdio.h>\n#include <unistd.h>\nint main(void) { puts("go"); fflush(stdout); sleep(30); }\n'
    for _ in range(2):
        with Running([harness.BELLJAR, *cache.argv(code, "--timeout", "40s", json=False)],
                     environ=cache.environ()) as running:
            keeper = keeper_of(running)
            held = [os.readlink(f"/proc/{keeper}/fd/{n}") for n in os.listdir(f"/proc/{keeper}/fd") if int(n) > 2]
            assert held and not [path for path in held if str(cache.path) in path], held
            assert eventually(lambda: len(cache.kept()) == 1)


# ---- many at once, and violence ----

def test_eight_at_once_all_have_it_right(cache):
    same = in_threads([lambda: cache.compile(C_HELLO)] * 8)
    assert len({c["key"] for c in same}) == 1 and cache.kept() == [same[0]["key"]]
    assert cache.compile(C_HELLO)["cached"]
    programs = [f"// {i}\n{C_HELLO}" for i in range(8)]
    different = in_threads([lambda code=code: cache.compile(code) for code in programs])
    assert len({c["key"] for c in different}) == 8 and len(cache.kept()) == 9
    assert all(cache.compile(code)["cached"] for code in programs)


def test_whoever_is_killed_leaves_nothing_half_written(cache):
    """The kill comes at many moments, from before the compiler starts to after its program ends. The next run removes
    everything that was left."""
    for i in range(12):
        with Running([harness.BELLJAR, *cache.argv(C_HELLO)], environ=cache.environ()) as running:
            if i % 2 == 0:  # when there is something to write, or soon after
                eventually(lambda: cache.kept() or running.popen.poll() is not None, within=10, step=0)
            else:
                time.sleep(0.04 * i)
            os.kill(running.pid, signal.SIGKILL)
        for name in cache.kept():
            if not name.startswith("."):
                assert cache.compile(C_HELLO)["cached"], "what is there is whole"
                (cache.programs / name).unlink()
    assert cache.compile(C_HELLO)["cached"] is False
    assert [name for name in cache.kept() if name.startswith(".")] == []


def test_what_a_killed_run_left_is_removed_by_the_next_one(cache):
    cache.compile(C_HELLO)
    left, busy, notes = (cache.programs / name for name in (".new_left", ".new_busy", "notes"))
    for path in (left, busy, notes):
        path.write_text("half")
    with open(busy) as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        cache.run(C_SEVEN)
    assert not left.exists() and busy.exists() and notes.exists(), "what is being written stays, and what is not ours"


def test_cache_of_the_terminal_is_bounded_and_what_was_used_longest_ago_goes(cache):
    used = cache.compile(C_HELLO)["key"]
    for i, name in enumerate(["0" * 64, "1" * 64, "2" * 64, "3" * 64]):
        path = cache.programs / name
        path.touch(mode=0o600)
        os.truncate(path, GIB // 4)
        os.utime(path, (1000 + i, 1000 + i))
    os.utime(cache.programs / used, (500, 500))
    foreign = cache.programs / "notes"
    foreign.touch()
    os.truncate(foreign, GIB)
    os.utime(foreign, (1, 1))
    assert cache.compile(C_HELLO)["cached"], "which is used thereby"
    new = cache.run(C_SEVEN).json["compile"]["key"]
    assert cache.kept() == sorted(["2" * 64, "3" * 64, used, new, "notes"]) or \
        cache.kept() == sorted(["1" * 64, "2" * 64, "3" * 64, used, new, "notes"]), cache.kept()
    assert sum((cache.programs / k).stat().st_size for k in cache.kept() if k != "notes") <= GIB
