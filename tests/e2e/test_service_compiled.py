"""Compiled languages in the service: a program is compiled once, however often and however many run it (R1.8)."""

import json
import os
import threading
import time

import pytest

import compiled
from compiled import LANGUAGES
from harness import PATIENCE, eventually
from service import Service, in_threads

C_HELLO = compiled.HELLO["c"]


def unique(code, word):
    """The same program to a compiler, and another one to a cache."""
    return f"// {word} {time.monotonic_ns()}\n{code}"


def c(service, code, **fields):
    return service.run(code=code, language="c", **fields)


def kept(service):
    return sorted((service.data / "programs").iterdir())


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_same_program_again_skips_the_compiler(service, lang):
    code = unique(compiled.HELLO[lang], lang)
    first, again = (service.run(code=code, language=lang) for _ in range(2))
    for r in (first, again):
        assert (r["verdict"], r["stdout"], r["stderr"],
                r["compile"]["verdict"]) == ("ok", "hello, world\n", "", "ok"), r
    assert (first["compile"]["cached"], again["compile"]["cached"]) == (False, True)
    assert first["compile"]["key"] == again["compile"]["key"] and len(first["compile"]["key"]) == 64
    assert first["compile"]["usage"] == again["compile"]["usage"], "what it cost when it was done"


@pytest.mark.parametrize("lang", LANGUAGES)
def test_compile_error_is_a_verdict_with_the_compilers_words(service, lang):
    code, where = compiled.BROKEN[lang]
    r = service.run(code=code, language=lang)
    assert (r["verdict"], r["compile"]["verdict"],
            r["compile"]["cached"]) == ("compile_error", "compile_error", False), r
    assert where in r["stderr"] and r["compile"]["stderr"] == r["stderr"]
    assert r["exit_code"] == r["compile"]["exit_code"] > 0
    assert (r["started_at"], r["start"], r["usage"]["wall_ms"]) == (None, None, 0)
    stored = service.get(f"/v1/runs/{r['id']}").json
    assert stored["compile"] == r["compile"] and stored["stderr"] == r["stderr"], "as the history has it"
    again = service.run(code=code, language=lang)
    assert again["compile"]["cached"] is True and again["stderr"] == r["stderr"], "told again, for a while"


def test_warnings_of_a_cached_program_are_told_again(service):
    code = unique("int main(void) { int unused; return 0; }\n", "warns")
    first, again = c(service, code), c(service, code)
    assert "unused" in first["compile"]["stderr"] and first["stderr"] == ""
    assert again["compile"]["stderr"] == first["compile"]["stderr"] and again["compile"]["cached"]


def test_everything_the_compiler_sees_is_part_of_the_key(service):
    code = unique('#include <stdio.h>\n#ifndef N\n#define N 1\n#endif\nint main(void) { printf("%d\\n", N); }\n', "key")
    asks = [
        {"code": code},
        {"code": code + "\n"},
        {"code": code, "compiler_args": ["-DN=2"]},
        {"code": code, "compiler_args": ["-DN=3"]},
        {"code": code, "files": [{"name": "beside.h", "content": "a"}]},
        {"code": code, "files": [{"name": "beside.h", "content": "b"}]},
        {"code": code, "files": [{"name": "other.h", "content": "b"}]},
    ]
    results = [service.run(language="c", **ask) for ask in asks]
    assert [r["stdout"] for r in results] == ["1\n", "1\n", "2\n", "3\n", "1\n", "1\n", "1\n"], results
    assert not any(r["compile"]["cached"] for r in results)
    assert len({r["compile"]["key"] for r in results}) == len(asks)
    # Inputs that the compiler does not see make no difference.
    other = service.run(language="c", code=code, args=["x"], env={"A": "b"}, stdin="x", limits={"wall_ms": 5000})
    assert other["compile"]["cached"] and other["compile"]["key"] == results[0]["compile"]["key"]


def test_cached_program_gets_its_own_files_stdin_and_arguments(service):
    code = unique("""\
#include <stdio.h>
int main(int c, char **v) { int x; scanf("%d", &x); printf("%s %d\\n", v[1], x); return x; }
""", "own")
    for i in (3, 4):
        r = c(service, code, args=[f"arg{i}"], stdin=f"{i}\n")
        assert (r["stdout"], r["exit_code"], r["compile"]["cached"]) == (f"arg{i} {i}\n", i, i == 4), r


def test_batch_compiles_once(service):
    """R1.8: one program on many inputs."""
    code = unique('#include <stdio.h>\nint main(void) { int x; scanf("%d", &x); printf("%d\\n", x * x); }\n', "batch")
    reply = service.post("/v1/batches",
                         {"run": {"language": "c", "code": code}, "inputs": [{"stdin": f"{i}\n"} for i in range(20)],
                                         "parallel": 8})
    assert reply.status == 200, reply
    results = reply.json["results"]
    assert [r["stdout"] for r in results] == [f"{i * i}\n" for i in range(20)]
    assert [r["compile"]["cached"] for r in results].count(False) == 1


def test_batch_that_does_not_compile_fails_as_a_whole(service):
    code = unique("int main(void) { return nothing; }\n", "broken")
    body = {"run": {"language": "c", "code": code}, "inputs": [{}] * 20, "parallel": 8}
    results = service.post("/v1/batches", body).json["results"]
    assert {r["verdict"] for r in results} == {"compile_error"} and all("nothing" in r["stderr"] for r in results)
    reply = service.post("/v1/batches", {**body, "stop_on_failure": True})
    words = [r.get("verdict") for r in reply.json["results"]]
    assert words[0] == "compile_error" and set(words[1:]) <= {"compile_error", "cancelled", None}, reply.json
    assert service.healthy()


def test_many_at_once_compile_once(service):
    code = unique(C_HELLO, "at once")
    results = in_threads([lambda: c(service, code)] * 12)
    assert all(r["stdout"] == "hello, world\n" for r in results)
    assert [r["compile"]["cached"] for r in results].count(False) == 1
    assert len(set(r["compile"]["key"] for r in results)) == 1


def test_compiler_limits_are_the_requests(service):
    r = service.run(language="cpp", code=compiled.BOMB, compile_limits={"wall_ms": 600})
    assert (r["verdict"], r["compile"]["verdict"], r["limits_hit"], r["exit_code"]) == \
        ("compile_error", "timeout", ["wall_ms"], 124), r
    # One who has less does not decide for one who has more.
    code = unique(compiled.HELLO["cpp"].replace("<iostream>", "<regex>\n#include <iostream>"), "slow")
    ids = [service.post("/v1/runs", {"language": "cpp", "code": code, "wait": False,
                                     "compile_limits": {"wall_ms": ms}}).json["id"] for ms in (30, 20000)]
    short, long = (service.finished(i) for i in ids)
    assert (short["verdict"], long["verdict"]) == ("compile_error", "ok"), (short, long)


def test_stdin_that_comes_while_it_compiles_is_the_programs(service):
    code = unique(compiled.ECHO["cpp"], "stdin")
    reply = service.post("/v1/runs", {"language": "cpp", "code": code, "stdin_open": True, "wait": False})
    assert reply.status == 202, reply
    run_id = reply.json["id"]
    for text in ("one ", "two "):
        assert service.post(f"/v1/runs/{run_id}/stdin", {"data": text}).status == 202
    assert service.post(f"/v1/runs/{run_id}/stdin", {"data": "three", "eof": True}).status == 202
    assert service.finished(run_id)["stdout"] == "one two three"


def test_events_of_a_compiled_run(service):
    code = unique(C_HELLO, "events")
    for cached in (False, True):
        events = service.all_events(body={"language": "c", "code": code})
        names = [e["event"] for e in events if e["event"] != "keepalive"]
        assert names == ["queued", "started", "stdout", "done"], events
        assert events[-1]["result"]["compile"]["cached"] is cached
    events = service.all_events(body={"language": "c", "code": "int main(void) { return nothing; }\n"})
    names = [e["event"] for e in events if e["event"] != "keepalive"]
    assert "started" not in names and "stderr" in names and names[-1] == "done", events


def test_time_in_the_queue_is_not_that_of_the_compiler(service):
    r = service.run(code=unique("#include <regex>\n" + compiled.HELLO["cpp"], "queue"), language="cpp")
    t, compiling = r["timings"], r["compile"]["usage"]["wall_ms"]
    assert r["compile"]["cached"] is False and compiling > 100
    assert t["queued_ms"] < compiling, r
    assert t["queued_at"] < t["started_at"], "the program's own start is after its compiler"


# ---- ends of other kinds ----

@pytest.fixture
def alone():
    with Service("--set", "runs.max=8") as s:
        yield s


def bombing(service, **fields):
    reply = service.post("/v1/runs", {"language": "cpp", "code": compiled.BOMB, "wait": False, **fields})
    assert reply.status == 202, reply
    run_id = reply.json["id"]
    assert eventually(lambda: service.get(f"/v1/runs/{run_id}").json["state"] == "running")
    return run_id


def test_cancelled_while_compiling(alone):
    run_id = bombing(alone)
    time.sleep(0.2)
    assert alone.delete(f"/v1/runs/{run_id}").status in (200, 202)
    r = alone.finished(run_id)
    assert (r["verdict"], r["compile"], r["started_at"]) == ("cancelled", None, None), r
    assert c(alone, C_HELLO)["verdict"] == "ok"


def test_another_takes_over_when_who_compiles_is_cancelled(alone):
    code = unique("#include <regex>\n" + compiled.HELLO["cpp"], "over")
    ids = [alone.post("/v1/runs", {"language": "cpp", "code": code, "wait": False}).json["id"] for _ in range(4)]
    time.sleep(0.1)
    alone.delete(f"/v1/runs/{ids[0]}")
    results = [alone.finished(i) for i in ids]
    assert results[0]["verdict"] in ("cancelled", "ok")
    assert [r["verdict"] for r in results[1:]] == ["ok"] * 3, results
    assert [r["compile"]["cached"] for r in results[1:]].count(False) <= 1


def test_waiting_for_a_compiler_can_be_cancelled(alone):
    ids = [bombing(alone, compile_limits={"wall_ms": 3000}) for _ in range(3)]
    alone.delete(f"/v1/runs/{ids[2]}")
    assert alone.finished(ids[2], within=2)["verdict"] == "cancelled"
    results = [alone.finished(i) for i in ids[:2]]
    assert [(r["verdict"], r["compile"]["verdict"]) for r in results] == [("compile_error", "timeout")] * 2, results


def test_client_that_goes_away_ends_its_compiler(alone):
    with alone.events(body={"language": "cpp", "code": compiled.BOMB, "cancel_on_disconnect": True}) as events:
        assert next(events)["event"] == "queued"
        time.sleep(0.3)
    assert eventually(lambda: [r["verdict"] for r in alone.get("/v1/runs").json["runs"]] == ["cancelled"])


def test_drain_waits_for_the_compiler_and_its_program(alone):
    results = []
    code = unique("#include <regex>\n" + compiled.HELLO["cpp"], "drain")
    t = threading.Thread(target=lambda: results.append(alone.run(code=code, language="cpp")))
    t.start()
    assert eventually(lambda: alone.get("/v1/runs", {"state": "running"}).json["runs"])
    alone.stop()
    t.join(30 * PATIENCE)
    assert results and results[0]["stdout"] == "hello, world\n"
    assert len(kept(alone)) == 1, "what was made is on disk before it ends"


def test_warden_lost_while_compiling(alone):
    run_id = bombing(alone)
    others = [alone.post("/v1/runs", {"language": "cpp", "code": compiled.BOMB, "wait": False,
                                      "compile_limits": {"wall_ms": 1000}}).json["id"] for _ in range(2)]
    os.kill(alone.half("warden").pid, 9)
    r = alone.finished(run_id)
    assert (r["verdict"], r["compile"]) == ("internal_error", None), r
    for other in others:
        assert alone.finished(other)["verdict"] in ("internal_error", "compile_error")
    assert c(alone, C_HELLO)["verdict"] == "ok"


# ---- the disk ----

def test_restart_keeps_what_was_compiled(alone):
    code = unique(C_HELLO, "restart")
    first = c(alone, code)
    assert eventually(lambda: len(kept(alone)) == 1) and kept(alone)[0].name == first["compile"]["key"]
    assert oct(kept(alone)[0].stat().st_mode & 0o777) == "0o600"
    alone.restart()
    again = c(alone, code)
    assert (again["stdout"], again["compile"]["cached"]) == ("hello, world\n", True), again
    assert again["compile"]["usage"] == first["compile"]["usage"]
    assert again["compile"]["stderr"] == first["compile"]["stderr"]


@pytest.mark.parametrize("harm", ["cut", "changed", "emptied", "swapped"])
def test_damaged_program_is_compiled_anew(alone, harm):
    """A file with the wrong hash is not used, even when it was whole under another key."""
    code, other = unique(C_HELLO, "harm"), unique(compiled.EXIT_7["c"], "other")
    path = alone.data / "programs" / c(alone, code)["compile"]["key"]
    other_path = alone.data / "programs" / c(alone, other)["compile"]["key"]
    assert eventually(lambda: path.exists() and other_path.exists())
    alone.stop()
    whole = path.read_bytes()
    at = len(whole) // 2
    path.write_bytes({"cut": whole[:-1], "emptied": b"",
                      "changed": whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:],
                      "swapped": other_path.read_bytes()}[harm])
    alone.start()
    r = c(alone, code)
    assert (r["verdict"], r["stdout"], r["compile"]["cached"]) == ("ok", "hello, world\n", False), r
    assert eventually(lambda: path.exists() and path.read_bytes()[:8] == b"belljar1" and len(path.read_bytes()) > 1000)


def test_what_was_used_longest_ago_goes_first():
    with Service("--set", "compile.cache=100k") as s:
        programs = [unique(C_HELLO, f"{i}") for i in range(9)]
        keys = []
        for code in programs:
            keys.append(c(s, code)["compile"]["key"])
            assert eventually(lambda: keys[-1] in [p.name for p in kept(s)])
            time.sleep(0.02)
        # The last that had to go goes just after the last that came.
        assert eventually(lambda: sum(os.stat(p).st_size for p in kept(s) if os.path.exists(p)) <= 100 << 10), kept(s)
        names = [p.name for p in kept(s)]
        assert keys[0] not in names and keys[-1] in names


def test_cache_can_be_switched_off():
    with Service("--set", "compile.cache=0") as s:
        assert c(s, C_HELLO)["compile"]["cached"] is False
        assert c(s, C_HELLO)["compile"]["cached"] is True, "in memory"
        s.restart()
        assert kept(s) == [] and c(s, C_HELLO)["compile"]["cached"] is False


def test_metrics_count_what_was_spared(alone):
    def counted():
        lines = dict(line.rsplit(" ", 1) for line in alone.get("/metrics").body.decode().splitlines() if line[0] != "#")
        return [int(lines[f"belljar_{name}_total"]) for name in ("compiled", "compiles_failed", "compiles_spared")]
    assert counted() == [0, 0, 0]
    for code in (C_HELLO, C_HELLO, C_HELLO, "int main(void) { return nothing; }"):
        c(alone, code)
    assert counted() == [1, 1, 2]


def test_result_of_the_command_line_is_the_services(alone):
    from harness import Running, BELLJAR
    import tempfile
    with tempfile.TemporaryDirectory() as d:
        path = f"{d}/main.cpp"
        open(path, "w").write(compiled.BOMB)
        environ = {**os.environ, "BELLJAR_STATE": str(alone.state)}
        with Running([BELLJAR, "run", "--compile-limit", "timeout=400ms", path], environ=environ) as running:
            result = running.finish(within=20)
    assert result.status == 124 and "the compiler took longer than its limit of 400ms" in result.message, result
    assert json.loads(alone.get("/v1/runs").body)["runs"][0]["verdict"] == "compile_error"


# ---- in jars ----

def test_java_files_get_the_names_of_their_public_classes(service):
    main = "public class Shop { public static void main(String[] a) { new Till().ring(); } }"
    till = "package x;\npublic class Till { public void ring() { System.out.println(\"ring\"); } }"
    r = service.run(language="java", entry="prog.java", files={
        "prog.java": main.replace("new Till", "new x.Till"), "x/helper.java": till})
    assert (r["verdict"], r["stdout"]) == ("ok", "ring\n"), r
    both = service.run(language="java", entry="Main.java", files={
        "Main.java": main.replace("Shop", "Main"), "a.java": till.replace("package x;\n", ""),
        "Till.java": "class Till { void ring() { } }"})
    assert both["verdict"] == "compile_error" and "Till" in both["stderr"], both


def test_java_has_assertions_when_asked_for(service):
    code = "public class A { public static void main(String[] a) { assert a.length > 0 : \"none\"; } }"
    assert service.run(code, language="java")["verdict"] == "ok"
    r = service.run(code, language="java", compiler_args=["-ea", "-Xlint:all"])
    assert r["verdict"] == "runtime_error" and "AssertionError: none" in r["stderr"], r


def test_warnings_beyond_the_limit_of_output_do_not_fail_a_compile(service):
    lines = "".join(f"static int g{i}(void) {{ int unused_{i}; return 0; }}\n" for i in range(300))
    code = "#include <stdio.h>\n" + lines + 'int main(void) { puts("ran"); return 0; }\n'
    r = service.run(code, language="c", compiler_args=["-Wall"], compile_limits={"output": "16k"})
    assert (r["verdict"], r["stdout"]) == ("ok", "ran\n"), r["compile"]
    flood = '#include __FILE__\n#warning "again"\n#include __FILE__\n'
    flood = "#if __INCLUDE_LEVEL__ < 60\n" + flood + "#endif\nint main(void) { return 0; }\n"
    stopped = service.run(flood, language="c", compile_limits={"output": "4k", "wall_ms": 20000})
    assert stopped["verdict"] == "compile_error" and stopped["compile"]["verdict"] == "output_limit", stopped["compile"]


def test_jars_have_the_certificates_of_the_host(service):
    code = "import ssl\nprint(len(ssl.create_default_context().get_ca_certs()) > 20)"
    assert service.run(code)["stdout"] == "True\n"
