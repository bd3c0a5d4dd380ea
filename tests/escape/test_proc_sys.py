"""/proc/sys, sysrq, core_pattern, kmsg: nothing under /proc can be opened for writing but the program's own."""

from harness import attack


def test_nothing_of_the_kernel_under_proc_can_be_written():
    """Everything there is tried."""
    found, _ = attack("""
mine = {"self", "thread-self", str(os.getpid())}
tried, through = 0, []
for top in listed("/proc"):
    if top in mine: continue
    for d, dirs, names in os.walk("/proc/" + top):
        if d.count("/") > 5: dirs.clear()
        for n in names:
            tried += 1
            if attempt(opened, os.path.join(d, n), os.O_WRONLY).startswith("ok"): through.append(os.path.join(d, n))
found["tried"], found["through"], found["top"] = tried, through, listed("/proc")
for n in ("sys/kernel/core_pattern", "sys/kernel/hostname", "sys/vm/drop_caches", "sysrq-trigger",
          "sys/fs/binfmt_misc/register"):
    found[n] = attempt(opened, "/proc/" + n, os.O_WRONLY)
""")
    assert found["through"] == [], found["through"]
    assert all(found[n].startswith("E") for n in found if "/" in n or n == "sysrq-trigger"), found


def test_proc_shows_processes_and_nothing_else(sealed):
    """subset=pid"""
    found, _ = attack("found['top'] = [n for n in os.listdir('/proc') if not n.isdigit()]")
    assert set(found["top"]) <= {"self", "thread-self"}, found


def test_others_processes_are_hidden(sealed):
    """hidepid: of the first process, which is not the program's, nothing is to be read"""
    found, _ = attack("""
found["pids"] = sorted(int(p) for p in os.listdir("/proc") if p.isdigit())
found["me"] = os.getpid()
found["1"] = attempt(lambda: open("/proc/1/cmdline").read())
""")
    assert found["me"] in found["pids"] and len(found["pids"]) <= 2, found


def test_own_limits_cannot_be_raised():
    """rlimits and the OOM score only ever get worse"""
    found, _ = attack("""
import resource
for name in dir(resource):
    if name.startswith("RLIMIT_"):
        n = getattr(resource, name)
        soft, hard = resource.getrlimit(n)
        if hard != resource.RLIM_INFINITY:
            found[name] = "ENOTRAISED"
            try: resource.setrlimit(n, (hard + 1, hard + 1)); found[name] = "ok"
            except (ValueError, OSError): pass
def lower():
    with open("/proc/self/oom_score_adj", "w") as f: f.write("-1000")
found["oom"] = attempt(lower)
found["nice"] = attempt(os.nice, -5)
found["core"] = resource.getrlimit(resource.RLIMIT_CORE)
""")
    assert found.pop("core") == [1, 1]
    assert not [k for k, v in found.items() if v.startswith("ok")], found
