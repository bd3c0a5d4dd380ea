"""A jar of a compiler cannot reach another program, the cache, or files that jars share (R1.8, R3).

A caller who gives arguments to gcc can run any program in its jar ('-wrapper'). The attacks here use that."""

import os
import shutil

import pytest

import compiled
from harness import ORDINARY_UID, ROOT, as_ordinary_user, belljar, public_dir
from service import Service, in_threads

HELLO = compiled.HELLO["c"]


def wrapper(script):
    """gcc starts this in place of each of its parts."""
    assert "," not in script
    return ["-wrapper", f"/bin/sh,-c,{script}"]


@pytest.fixture
def alone():
    with Service("--set", "runs.max=8") as s:
        yield s


def c(service, code=HELLO, **fields):
    return service.run(code=code, language="c", **fields)


FAKE = "printf '#!/bin/sh\\necho poisoned\\n' > program; exit 0"


def test_what_was_made_by_other_means_is_nobody_elses(alone):
    poisoned = c(alone, compiler_args=wrapper(FAKE))
    assert poisoned["stdout"] == "poisoned\n", "or the attack did not run"
    honest = c(alone)
    assert (honest["stdout"], honest["compile"]["cached"]) == ("hello, world\n", False), honest
    assert honest["compile"]["key"] != poisoned["compile"]["key"]
    again = c(alone)
    assert (again["stdout"], again["compile"]["cached"]) == ("hello, world\n", True)


def test_compiler_cannot_see_or_write_what_is_kept(alone):
    kept = c(alone)["compile"]["key"]
    script = (f"find / -name {kept} 2>/dev/null | grep . && echo SEEN >&2; ls {alone.data} >/dev/null 2>&1 && echo "
              f"REACHED >&2; "
              "for d in /opt/belljar /opt/belljar/*; do touch $d/x 2>/dev/null && echo WROTE $d >&2; done; "
              "ls /opt/belljar >&2; echo TRIED >&2; exit 1")
    r = c(alone, compiler_args=wrapper(script))
    assert r["verdict"] == "compile_error" and "TRIED" in r["stderr"] and "cpp" in r["stderr"], r
    assert not [word for word in ("SEEN", "REACHED", "WROTE") if word in r["stderr"]], r["stderr"]


def test_program_cannot_write_what_jars_share(alone):
    code = r'''#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <unistd.h>
static int seen, got;
static int try(const char *path, const struct stat *st, int type, struct FTW *f) {
    seen++;
    got += type == FTW_F ? open(path, O_WRONLY) >= 0 : access(path, W_OK) == 0;
    return 0;
}
int main(void) { nftw("/opt/belljar", try, 16, FTW_PHYS); printf("%d %d\n", seen > 5, got); }
'''
    assert c(alone, code)["stdout"] == "1 0\n"


@pytest.mark.parametrize("leave", ["ln -s /etc/hostname program", "mkdir program", "mkfifo program",
                                   "ln -s /proc/self/root program", "true"])
def test_product_that_is_no_file_is_an_error(alone, leave):
    r = c(alone, compiler_args=wrapper(f"[ -e program ] || {leave}; exit 0"))
    assert (r["verdict"], r["compile"]["verdict"]) == ("compile_error", "compile_error"), r
    assert "'program'" in r["stderr"] and "belljar\n" not in r["stdout"]


@pytest.mark.parametrize("leave, code", [("ln main.c program", 126), ("printf '#!/nonexistent\\n' >program", 127),
                                         ("printf '#!/etc/passwd\\n' >program", 126), (": >program", 126)])
def test_product_that_is_no_program_is_the_guests_failure(alone, leave, code):
    """A compiler that is made to leave another file does not look like a failure of ours."""
    r = c(alone, compiler_args=wrapper(f"[ -e program ] || {leave}; exit 0"))
    assert (r["verdict"], r["exit_code"], r["compile"]["verdict"]) == ("runtime_error", code, "ok"), r
    assert r["stderr"].startswith("start ./program: ") and "error_code" not in r, r


def test_product_that_is_more_than_the_run_may_have_meets_its_limit(alone):
    r = c(alone, "char a[3000000] = { 1 };\nint main(void) { return a[0] - 1; }\n", limits={"disk": "1m"})
    assert (r["verdict"], r["limits_hit"], r["compile"]["verdict"]) == ("disk_limit", ["disk"], "ok"), r
    assert "'program' is over the disk or files limit" in r["stderr"] and "error_code" not in r, r


def test_what_compilers_print_does_not_fill_the_keeper(alone):
    """The whole program is kept until the run ends, and a refused one for a while longer."""
    loud = wrapper("yes | head -c 60000000; yes | head -c 60000000 >&2; exit 1")
    reply = alone.post("/v1/runs",
                       {"language": "c", "code": HELLO, "compiler_args": loud, "compile_limits": {"output": "60m"}})
    assert reply.status == 400 and reply.error["field"] == "compile_limits.output", reply
    keeper = alone.half("keeper").pid
    runs = in_threads([lambda i=i: c(alone, HELLO + f"// {i}", compiler_args=loud, compile_limits={"output": "4m"})
                       for i in range(6)])
    assert [r["compile"]["verdict"] for r in runs] == ["output_limit"] * 6, runs[0]["compile"]["verdict"]
    assert resident_mib(keeper) < 150, "six compilers that print 120 MB each"


def resident_mib(pid):
    line = next(x for x in open(f"/proc/{pid}/status") if x.startswith("VmRSS:"))
    return int(line.split()[1]) // 1024


def test_file_of_the_job_is_not_run_in_place_of_a_program(alone):
    """A program that did not compile does not run, and no other file with its name runs in its place."""
    r = c(alone, "int main(void) { return nothing; }", files=[{"name": "program", "content": """\
#!/bin/sh
echo instead
"""}])
    assert r["verdict"] == "compile_error" and "instead" not in r["stdout"], r


def test_processes_left_behind_by_a_compiler_are_gone_before_its_program_starts(alone):
    script = "(setsid sh -c 'while :; do echo poisoned > /sandbox/program; done' &) ; exec $0 $@"
    code = '#include <stdio.h>\nint main(void) { puts("hello, world"); }\n'
    r = c(alone, code, compiler_args=["-wrapper", f"/bin/sh,-c,{script}"])
    assert "poisoned" not in r["stdout"], r
    assert c(alone, code)["stdout"] == "hello, world\n"
    assert not [p for p in os.listdir("/proc") if p.isdigit() and b"echo poisoned" in command_line(p)]


def command_line(pid):
    try:
        return open(f"/proc/{pid}/cmdline", "rb").read()
    except OSError:
        return b""


# ---- without a service: the cache is the caller's, and so may be the uid of the jar ----

REACH = r'''#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int c, char **v) {
    for (int i = 1; i < c; i++) {
        DIR *d = opendir(v[i]);
        int r = open(v[i], O_RDONLY), w = open(v[i], O_WRONLY | O_CREAT, 0600);
        if (d || r >= 0 || w >= 0 || unlink(v[i]) == 0 || rename("/sandbox/program", v[i]) == 0)
            printf("REACHED %s\n", v[i]);
    }
    puts("TRIED");
}
'''


@pytest.mark.parametrize("level", ["jar", "rootless", "process"])
@pytest.mark.parametrize("user", ["root", "ordinary"])
def test_neither_compiler_nor_program_reaches_the_cache_of_the_terminal(level, user):
    if user == "root" and not ROOT or user == "ordinary" and level == "jar":
        pytest.skip("not to be had")
    prefix = as_ordinary_user() if user == "ordinary" else []
    place = public_dir()
    base = place / "xdg"
    base.mkdir(mode=0o700)
    if prefix:
        os.chown(base, ORDINARY_UID, ORDINARY_UID)
    (place / "main.c").write_text(HELLO)
    (place / "reach.c").write_text(REACH)

    def run(name, *options, args=()):
        return belljar("run", "--local", "--json", "--isolation", level, *options, place / name, "--", *args,
                       environ={**os.environ, "XDG_CACHE_HOME": str(base)}, prefix=prefix)

    programs = base / "belljar/programs"
    first = run("main.c")
    if first.status == 125:
        pytest.skip(first.message)
    kept = programs / first.json["compile"]["key"]
    whole = kept.read_bytes()
    r = run("reach.c", args=[programs, kept, programs / "new", base])
    assert r.stdout == "TRIED\n", r
    script = (f"cat {kept} >/dev/null 2>&1 && echo REACHED >&2; echo x >> {kept} && echo REACHED >&2; "
              f"touch {programs}/new && echo REACHED >&2; rm -f {kept}; ls /proc/*/fd >/dev/null 2>&1; echo TRIED >&2; "
              f"exit 1")
    r = run("main.c", *[f"--compiler-arg={a}" for a in wrapper(script)])
    assert r.verdict == "compile_error" and "TRIED" in r.stderr and "REACHED" not in r.stderr, r
    assert kept.read_bytes() == whole and not (programs / "new").exists()
    assert run("main.c").json["compile"]["cached"], "or it was not kept at all"
    shutil.rmtree(place)
