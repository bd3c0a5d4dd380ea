"""Stages that a caller defines: programs that run one after the other in one jar (R1.8)."""

import time

import pytest

from harness import eventually


def stages(service, *list_, **body):
    reply = service.post("/v1/runs", {"stages": list(list_), **body})
    assert reply.status == 200, reply
    return reply.json


def words(r):
    return [(s["name"], s["verdict"], s["passed"]) for s in r["stages"]]


def test_stages_share_one_jar_and_each_has_its_verdict(service):
    """R1.8"""
    r = stages(service, {"name": "build", "command": "gcc -o prog main.c && echo built >&2; hostname > h"},
               {"name": "run", "command": "./prog; exit 3", "expect_exit": 3},
               {"name": "check", "language": "python", "code": "print(open('out').read(), open('/tmp/t').read())"},
               files={"main.c": '#include <stdio.h>\nint main(void) { puts("hi"); fputs("42", fopen("out", "w"));'
                                ' fputs("tmp", fopen("/tmp/t", "w")); }'},
               outputs=["out"], limits={"memory": "512m", "disk": "64m"})
    assert words(r) == [("build", "ok", True), ("run", "runtime_error", True), ("check", "ok", True)], r
    assert (r["verdict"], r["exit_code"], r["stdout"]) == ("ok", 0, "hi\n42 tmp\n"), r
    assert r["stages"][0]["stderr"] == "built\n" and r["stages"][1]["exit_code"] == 3
    assert r["stages"][2]["stdout"] == "42 tmp\n" and r["files"][0]["status"] == "ok"
    assert r["usage"]["wall_ms"] >= sum(s["usage"]["wall_ms"] for s in r["stages"]) - 0.1
    assert service.get(f"/v1/runs/{r['id']}").json["stages"] == r["stages"]
    # The request of the run is enough to run it again.
    again = service.get(f"/v1/runs/{r['id']}/request").json["request"]
    assert service.post("/v1/runs", again).json["stdout"] == r["stdout"]


@pytest.mark.parametrize("second, verdict, code, hit", [
    ({"command": "exit 7"}, "runtime_error", 7, []), ({"command": "true", "expect_exit": 1}, "runtime_error", 1, []),
    ({"command": "kill -9 $$", "expect_exit": 137}, "runtime_error", 137, []),
    ({"command": "sleep 60", "limits": {"wall_ms": 200}}, "timeout", 124, ["wall_ms"]),
    ({"language": "python", "code": "x = b'1' * (1 << 28)", "limits": {"memory": "48m"}}, "memory_limit", 137,
     ["memory"]),
    ({"command": "yes", "limits": {"output": 1000}}, "output_limit", 153, ["output"]),
], ids=lambda v: str(v)[:40])
def test_stage_that_fails_is_the_last_one(service, second, verdict, code, hit):
    r = stages(service, {"name": "a", "command": "echo a"}, {"name": "b", **second}, {"name": "c", "command": "echo c"},
               outputs=["."])
    assert [s["verdict"] for s in r["stages"]] == ["ok", "ok" if second.get("expect_exit") == 1 else verdict, None], r
    assert [s["passed"] for s in r["stages"]] == [True, False, False]
    assert (r["verdict"], r["exit_code"], r["stages"][1]["limits_hit"]) == (verdict, code, hit), r
    assert "c\n" not in r["stdout"]


def test_no_process_of_a_stage_meets_the_next_one(service):
    """The sweeper ends all of them: also orphans, other sessions, stopped ones, and ones that fork on and on."""
    leave = """
(setsid sleep 1000 &) ; (sleep 1000 & kill -STOP $!) ; trap '' TERM HUP
python3 - <<'END' &
import os, signal, time
for s in range(1, 65):
    try: signal.signal(s, signal.SIG_IGN)
    except Exception: pass
while True:
    try:
        if os.fork(): os._exit(0)
        open('/sandbox/late', 'w').write('x')
        os.unlink('/sandbox/stolen.sh') if os.path.exists('/sandbox/stolen.sh') else None
    except OSError: pass
END
sleep 0.3
"""
    look = "cat /proc/[0-9]*/comm; rm -f late; sleep 0.2; ls"
    r = stages(service, {"name": "leave", "command": leave}, {"name": "look", "command": look})
    # The zsh or bash of the stage itself and its children are there, and pid 1, which is ours.
    seen = r["stages"][1]["stdout"].split()
    assert r["verdict"] == "ok" and "sleep" not in seen and "python3" not in seen, r
    assert "late" not in seen and "jar-sweeper" not in seen, r


def test_stage_cannot_change_the_program_of_the_next(service):
    """Its file is written again in place of everything that an earlier stage left there."""
    for trick in ("echo 'echo stolen' > second.sh", "rm second.sh; ln -s /etc/passwd second.sh",
                  "rm second.sh; mkdir -p second.sh/deep; touch second.sh/deep/x; chmod 0 second.sh",
                  "chmod 0 second.sh; chmod 0 ."):
        r = stages(service, {"name": "first", "command": trick}, {"name": "second", "command": "echo mine"})
        assert (r["verdict"], r["stages"][1]["stdout"]) == ("ok", "mine\n"), (trick, r)
    full = stages(service, {"name": "fill", "command": "head -c 100000000 /dev/zero > big; true"},
                  {"name": "next", "command": "echo " + "x" * 70000}, limits={"disk": "8m"})
    assert full["stages"][1]["verdict"] != "internal_error", full
    # Files of earlier stages leave no memory for the next one.
    tight = stages(service, {"name": "fill", "command": "head -c 60000000 /dev/zero > big"},
                   {"name": "next", "command": "true", "limits": {"memory": "16m"}}, limits={"disk": "64m"})
    assert [s["verdict"] for s in tight["stages"]] == ["ok", "memory_limit"], tight


def test_stages_can_be_cancelled_and_leave_nothing(service):
    for first in ("sleep 60", "true"):
        two = [{"name": "a", "command": first}, {"name": "b", "command": "sleep 61"}]
        run = service.post("/v1/runs", {"stages": two, "limits": {"wall_ms": 60000}, "wait": False}).json
        eventually(lambda: service.get(f"/v1/runs/{run['id']}").json["state"] == "running")
        time.sleep(0.3 if first == "true" else 0)
        assert service.delete(f"/v1/runs/{run['id']}").status in (200, 202)
        r = eventually(lambda: service.get(f"/v1/runs/{run['id']}").json if service.get(
            f"/v1/runs/{run['id']}").json["state"] == "finished" else None)
        assert r["verdict"] == "cancelled", r


@pytest.mark.parametrize("body, field, part", [
    ({"stages": [{"command": "true"}]}, "stages[0].name", "name"),
    ({"stages": [{"name": "a/b", "command": "true"}]}, "stages[0].name", "letters"),
    ({"stages": [{"name": "a", "command": "true"}] * 2}, "stages[1].name", "two stages"),
    ({"stages": [{"name": "a"}]}, "stages[0].command", "'command' is missing"),
    ({"stages": [{"name": "a", "command": "x", "code": "y"}]}, "stages[0].command", "both"),
    ({"stages": [{"name": "a", "code": "y"}]}, "stages[0].language", "'language' is missing"),
    ({"stages": [{"name": "a", "language": "c", "code": "y"}]}, "stages[0].language", "compiled"),
    ({"stages": [{"name": "a", "language": "nix", "code": "y"}]}, "stages[0].language", "nix"),
    ({"stages": [{"name": "a", "command": "x", "expect_exit": 256}]}, "stages[0].expect_exit", "255"),
    ({"stages": [{"name": "a", "command": "x", "limits": {"disk": "1m"}}]}, "stages[0].limits.disk", "all stages"),
    ({"stages": [{"name": "a", "command": "x", "limits": {"memory": "900g"}}]}, "stages[0].limits.memory", ""),
    ({"stages": [{"name": "a", "command": "x"}], "code": "print(1)"}, "code", "'stages'"),
    ({"stages": [{"name": "a", "command": "x"}], "profile": True}, "profile", "'stages'"),
    ({"stages": [{"name": "a", "command": "x"}], "files": {"a.sh": "x"}}, "files", "given twice"),
    ({"stages": [{"name": str(i), "command": "x"} for i in range(17)]}, "stages", "16"),
], ids=lambda v: str(v)[:50])
def test_stages_that_make_no_sense_are_refused(service, body, field, part):
    reply = service.post("/v1/runs", body)
    assert reply.status == 400 and reply.error["field"] == field and part in reply.error["message"], reply


@pytest.mark.parametrize("rule", [{"match": "contains", "text": "shady-word"},
                                  {"match": "prefix", "text": "print('shady"}, {"match": "any", "language": "lua"}],
                         ids=lambda r: r["match"])
def test_deny_rules_look_at_every_stage(service, rule):
    """RULESET-1: at the second one as at the first."""
    id_ = service.post("/v1/rules", {"action": "deny", **rule}, unix=True).json["id"]
    language = rule.get("language", "python")
    two = [{"name": "a", "command": "echo a"}, {"name": "b", "language": language, "code": "print('shady-word')"}]
    try:
        assert stages(service, *two)["verdict"] == "rejected"
        assert stages(service, two[0])["verdict"] == "ok"
    finally:
        assert service.delete(f"/v1/rules/{id_}", unix=True).status in (200, 204)
