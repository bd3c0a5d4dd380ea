"""Nothing that a compiler's jar can be made to do reaches another program, the cache, or what jars share (R1.8, R3).

Whoever gives arguments to gcc runs what they like in its jar ('-wrapper'): what is tried here is tried with that."""

import os

import pytest

import compiled
from service import Service

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
    script = (f"find / -name {kept} 2>/dev/null | grep . && echo SEEN >&2; ls {alone.data} >/dev/null 2>&1 && echo REACHED >&2; "
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


def test_file_of_the_job_is_not_run_in_place_of_a_program(alone):
    """What did not compile does not run, whatever else is called what it would have been called."""
    r = c(alone, "int main(void) { return nothing; }", files=[{"name": "program", "content": "#!/bin/sh\necho instead\n"}])
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
