"""Levels: chosen before the run, told in every result, never silently weaker (R4.6, R3.3)."""

import json
import os
import shutil
import subprocess

import pytest

import harness
from harness import BRIEF, BRIEF_MS, as_ordinary_user, belljar, deny, given_time, run, run_py, run_sh, tool

NAMESPACES = {"user_ns", "pid_ns", "mount_ns", "net_ns", "ipc_ns", "uts_ns", "cgroup_ns"}
ALWAYS = {"no_caps", "no_new_privs", "seccomp", "rlimits", "environment", "closed_fds", "own_session"}


def isolation(result):
    assert result.verdict == "ok", result
    return result.json["isolation"]


@pytest.fixture
def ordinary(belljar_for_everybody):
    """A prefix under which belljar runs as an ordinary user; skips where they may not make namespaces."""
    prefix = as_ordinary_user()
    if subprocess.run([*prefix, "unshare", "-U", "true"], stderr=subprocess.DEVNULL, timeout=20).returncode:
        pytest.skip("ordinary users may not make user namespaces here")
    return prefix


@pytest.fixture
def no_namespaces(belljar_for_everybody):
    tool("deny")
    return deny("namespaces")


def test_root_gets_the_whole_jar(whole_jar):
    found = isolation(run_py("print(1)"))
    assert found["level"] == "jar" and set(found["layers"]) >= NAMESPACES | ALWAYS | {"root", "own_uid"}
    assert {"cgroup_memory", "cgroup_pids", "cgroup_cpu"} <= set(found["layers"]) and found["unenforced"] == []


def test_landlock_is_used_where_the_kernel_has_it(here):
    import ctypes

    abi = ctypes.CDLL(None).syscall(444, None, 0, 1)
    assert ("landlock" in here.layers) == (abi > 0)


def test_ordinary_user_gets_rootless(ordinary):
    found = isolation(run_py("print(1)", prefix=ordinary))
    assert found["level"] == "rootless" and set(found["layers"]) >= NAMESPACES | ALWAYS | {"root"}


def test_rootless_says_which_limits_it_cannot_hold(ordinary):
    """R3.3: cgroups that are not there are not in the layers, and their limits are in `unenforced`"""
    found = isolation(run_py("print(1)", prefix=ordinary))
    for layer, limit in (("cgroup_memory", "memory"), ("cgroup_cpu", "cpu_percent")):
        assert (layer in found["layers"]) != (limit in found["unenforced"]), found


@pytest.mark.parametrize(("lang", "code"),
                         [("python", "print(6*7)"), ("node", "console.log(6*7)"), ("bash", "echo $((6*7))")])
def test_every_language_runs_rootless(ordinary, lang, code):
    result = run(code, lang, prefix=ordinary)
    assert (result.verdict, result.stdout, result.level) == ("ok", "42\n", "rootless"), result


@pytest.mark.parametrize(("lang", "code"),
                         [("python", "print(6*7)"), ("node", "console.log(6*7)"), ("bash", "echo $((6*7))")])
def test_every_language_runs_at_process_level(no_namespaces, lang, code):
    result = run(code, lang, prefix=no_namespaces)
    assert (result.verdict, result.stdout, result.level) == ("ok", "42\n", "process"), result


def test_check_of_code_works_at_process_level(no_namespaces, tmp_path):
    """Its programs of ours are elsewhere then, and so is the folder for temporary files."""
    (tmp_path / "a.py").write_text("import no_such_module\n")
    (tmp_path / "b.js").write_text("require('no-such-package');\n")
    (tmp_path / "c.sh").write_text("fi\n")
    tmp_path.chmod(0o755)
    done = subprocess.run([*no_namespaces, harness.BELLJAR, "check", "--local", "--json", str(tmp_path)],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
    result = json.loads(done.stdout)
    found = {entry["language"]: entry for entry in result["checks"]["languages"]}
    assert result["isolation"]["level"] == "process" and result["outcome"] == "failed" and done.returncode == 1
    assert [p["name"] for p in found["python"]["imports"]["problems"]] == ["no_such_module"], found
    assert [p["name"] for p in found["javascript"]["imports"]["problems"]] == ["no-such-package"], found
    assert found["bash"]["syntax"]["problems"][0]["file"] == "c.sh", found


def test_forbidden_namespaces_give_process_level(no_namespaces):
    """R4.6: the level of a container without nested namespaces"""
    found = isolation(run_py("print(1)", prefix=no_namespaces))
    assert found["level"] == "process" and set(found["layers"]) >= ALWAYS
    assert not set(found["layers"]) & (NAMESPACES | {"root"})


def test_forbidden_namespaces_give_process_level_to_an_ordinary_user(no_namespaces):
    prefix = [*as_ordinary_user(), *no_namespaces]
    found = isolation(run_py("print(1)", prefix=prefix))
    assert found["level"] == "process"


def test_forbidden_user_namespaces_give_an_ordinary_user_process_level(belljar_for_everybody):
    found = isolation(run_py("print(1)", prefix=[*as_ordinary_user(), *deny("clone:newuser")]))
    assert found["level"] == "process"


def test_process_level_works_from_a_place_that_programs_cannot_reach(belljar_for_everybody, as_root):
    """The checkout belongs to root: the files that languages need of ours are out of reach there. Python needs none."""
    belljar_for_everybody.parent.chmod(0o700)
    assert isolation(run_py("print(1)", isolation="process"))["level"] == "process"


@pytest.mark.parametrize("level", ["process", "rootless", "jar"])
def test_a_weaker_level_may_be_asked_for(here, level):
    order = ["process", "rootless", "jar"]
    if order.index(level) > order.index(here.level):
        pytest.skip(f"level {level} is not available here")
    found = isolation(run_py("print(1)", isolation=level))
    assert found["level"] == level


def assert_refused(result, level):
    assert result.status == 125 and b"STARTED" not in result.out, result
    assert level in result.message and result.message.count("\n") == 0, result


def test_jar_is_refused_to_an_ordinary_user_without_cgroups(host, ordinary):
    """R3.3: a caller who demands it gets a refusal"""
    if "cgroup_memory" in isolation(run_py("print(1)", prefix=ordinary))["layers"]:
        pytest.skip("this user has cgroups of their own")
    assert_refused(run_py("print('STARTED')", json=False, isolation="jar", prefix=ordinary), "jar")


@pytest.mark.parametrize("level", ["jar", "rootless"])
def test_sealed_levels_are_refused_where_namespaces_are_forbidden(host, no_namespaces, level):
    assert_refused(run_py("print('STARTED')", json=False, isolation=level, prefix=no_namespaces), level)


# --- promises that hold at level process ---------------------------------------------------------


def at_process_level(code, **opts):
    return run_py(code, prefix=deny("namespaces"), **opts)


def test_process_level_closes_descriptors_and_empties_the_environment(no_namespaces):
    code = """
import os
for fd in range(4096):
    try: os.fstat(fd); print(fd, end=" ")
    except OSError: pass
print("SECRET" in os.environ)
"""
    result = at_process_level(code, environ={**os.environ, "SECRET": "hunter2"})
    assert result.stdout == "0 1 2 False\n", result


def test_process_level_allows_no_socket(no_namespaces):
    code = """\
import socket
for f in (1, 2, 10, 16, 17, 40):
  try: socket.socket(f); print(f)
  except OSError as e: pass
print('end')"""
    assert at_process_level(code).stdout == "end\n"


def test_process_level_writes_only_to_its_own_directory(no_namespaces, public_path):
    public_path.chmod(0o777)
    code = f"""
import os
open("mine", "w").write("x"); print("mine")
for p in ("{public_path}/x", "/tmp/jartest-x", "/dev/shm/jartest-x", os.path.expanduser("~/../jartest-x")):
    try: open(p, "w"); print(p)
    except OSError: pass
"""
    result = at_process_level(code)
    if "landlock" not in result.json["isolation"]["layers"]:
        pytest.skip("no Landlock here")
    assert result.stdout == "mine\n", result
    assert set(os.listdir(public_path)) <= {"belljar", "guest"}


def test_process_level_reads_no_host_files(no_namespaces, public_path):
    (public_path / "secret").write_text("hunter2")
    code = f"""
for p in ("{public_path}/secret", "/etc/shadow", "/root/.bashrc", "/proc/1/environ", "/home"):
    try:
        import os
        print(p, os.listdir(p) if os.path.isdir(p) else open(p).read())
    except OSError: pass
print("end")
"""
    result = at_process_level(code)
    if "landlock" not in result.json["isolation"]["layers"]:
        pytest.skip("no Landlock here")
    assert result.stdout == "end\n", result


def test_process_level_ends_everything_it_started(host, no_namespaces):
    """R4.5: sessions and process groups of its own are denied, so one kill is complete"""
    code = """
import os, time
for _ in range(10):
    if os.fork() == 0:
        for f in (os.setsid, lambda: os.setpgid(0, 0)):
            try: f()
            except OSError: pass
        if os.fork() == 0: time.sleep(60)
        os._exit(0)
print("forked", flush=True)
time.sleep(60)
"""
    result = given_time(lambda ms: at_process_level(code, timeout=f"{ms}ms"))
    assert (result.verdict, result.stdout) == ("timeout", "forked\n"), result


def test_process_level_ends_orphans_of_a_program_that_ended(host, no_namespaces):
    result = run_sh("(sleep 300 &) ; (nohup sleep 300 >/dev/null 2>&1 &) ; echo done", prefix=no_namespaces)
    assert (result.verdict, result.stdout) == ("ok", "done\n"), result


def test_process_level_cannot_signal_the_host(host, no_namespaces):
    """Not even as root: kill -9 -1 hits the program's own, at the most"""
    abi = json.loads(belljar("doctor", "--json", prefix=no_namespaces).out)["landlock_abi"]
    if abi < 6 and os.geteuid() != 0:
        pytest.skip(f"Landlock ABI {abi} does not keep signals inside, and the uid is the caller's (SECURITY.md, "
                    f"weaker levels)")
    bystander = subprocess.Popen(["sleep", "60"])
    try:
        code = f"""
import os
for pid, sig in (({bystander.pid}, 9), (os.getppid(), 9), ({os.getpid()}, 18)):
    try: os.kill(pid, sig); print("hit", pid)
    except OSError as e: print("refused")
"""
        result = at_process_level(code)
        assert bystander.poll() is None and "hit" not in result.stdout, result
    finally:
        bystander.kill()
        bystander.wait()


def test_process_level_keeps_time_and_output_limits(no_namespaces):
    assert at_process_level("while True: pass", timeout=BRIEF).verdict == "timeout"
    assert at_process_level("while True: pass", cpu_time=BRIEF, timeout=f"{40 * BRIEF_MS}ms").verdict == "cpu_timeout"
    assert at_process_level("while True: print('x' * 1000)", output="64k", timeout="20s").verdict == "output_limit"


def test_process_level_removes_its_directory(host, no_namespaces):
    assert at_process_level("import os; os.makedirs('a/b/c'); open('a/b/c/d', 'w').write('x'); os.fchmod(os.open('a', "
                            "0), 0)").verdict == "ok"


# --- doctor --------------------------------------------------------------------------------------


def test_doctor_tells_the_level_a_run_gets(here):
    result = belljar("doctor")
    assert result.status == 0 and here.level in result.out.decode(), result
    data = json.loads(belljar("doctor", "--json").out)
    assert data["level"] == here.level


def test_doctor_lists_every_layer_and_its_state(here):
    data = json.loads(belljar("doctor", "--json").out)
    layers = {layer["name"]: layer for layer in data["layers"]}
    assert here.layers <= set(layers)
    assert {n for n, layer in layers.items() if layer["available"]} == here.layers


def test_doctor_says_what_is_missing_and_how_to_get_it(no_namespaces):
    result = belljar("doctor", prefix=no_namespaces)
    assert "process" in result.out.decode() and "user_ns" in result.out.decode()
    data = json.loads(belljar("doctor", "--json", prefix=no_namespaces).out)
    assert data["level"] == "process"
    missing = [layer for layer in data["layers"] if not layer["available"]]
    assert {layer["name"] for layer in missing} >= NAMESPACES and all(layer.get("fix") for layer in missing), missing


def test_doctor_works_for_an_ordinary_user(ordinary):
    data = json.loads(belljar("doctor", "--json", prefix=ordinary).out)
    assert data["level"] == "rootless"


def test_doctor_leaves_nothing(host):
    assert belljar("doctor").status == 0
    assert belljar("doctor", "--json").status == 0


def test_doctor_shows_the_confinement_of_keepers_and_gives_advice(as_root, public_path):
    for name, text in (("core", "@/run/handler.sock\n"), ("tasks", "1\n")):
        (public_path / name).write_text(text)
    script = (f"mount --bind {public_path}/core /proc/sys/kernel/core_pattern && "
              f"mount --bind {public_path}/tasks /proc/sys/vm/oom_dump_tasks && exec {harness.BELLJAR} doctor --json")
    told = json.loads(subprocess.run(["unshare", "-m", "sh", "-c", script], capture_output=True, timeout=60).stdout)
    assert [a["command"].split("=")[0] for a in told["advice"]] == ["sysctl -w kernel.core_pattern",
                                                                   "sysctl -w vm.oom_dump_tasks"], told["advice"]
    layers = {layer["name"]: layer["available"] for layer in told["confinement"]}
    assert set(layers) == {"seccomp", "landlock", "no_new_code", "no_network"}
    assert layers["no_network"] and layers["landlock"] == (told["landlock_abi"] > 0), layers
    text = belljar("doctor").out.decode()
    assert all(f"] {name} " in text for name in layers), text


def test_doctor_knows_a_program_that_was_copied_alone(public_path):
    copy = shutil.copy(harness.BELLJAR, public_path / "belljar")
    for program, alone in ((copy, True), (harness.BELLJAR, False)):
        text = subprocess.run([program, "doctor"], capture_output=True, text=True, timeout=60).stdout
        assert ("not beside this program" in text and "ln -sf " in text) == alone, text


def test_doctor_lists_languages_and_versions():
    data = json.loads(belljar("doctor", "--json").out)
    names = {lang["name"]: lang for lang in data["languages"]}
    assert {"python", "javascript", "bash"} <= set(names) and names["python"]["version"][0] == "3"
