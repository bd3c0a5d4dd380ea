"""The kernel keeps the same state for a warm guest as for a cold one. Nothing of the zygote, of the waiting embryo or
of the warden stays on it, and guests share nothing that execve makes anew."""

import json
import signal

import pytest

import warm

STATE = r'''
import ctypes, json, os, re, resource, signal
libc = ctypes.CDLL(None, use_errno=True)
status = dict(line.split(":\t", 1) for line in open("/proc/self/status").read().splitlines())
# Not Seccomp_filters, a count: a warm guest has the filter of its zygote too, which allows more than its own.
names = ("SigBlk", "SigIgn", "SigCgt", "SigPnd", "ShdPnd", "NoNewPrivs", "Seccomp", "CapInh",
         "CapPrm", "CapEff", "CapBnd",
         "CapAmb", "Groups", "Uid", "Gid", "Umask", "Threads", "TracerPid", "Cpus_allowed", "NSpid")
said = {n: status.get(n) for n in names if n != "NSpid"}
for name in ("oom_score_adj", "timerslack_ns", "personality", "coredump_filter", "environ", "cmdline", "comm",
             "loginuid", "sessionid"):
    try: said[name] = open("/proc/self/" + name, "rb").read().decode("latin-1")
    except OSError as e: said[name] = str(e.errno)
said["cgroup"] = re.sub(r"\d", "", open("/proc/self/cgroup").read())
said["limits"] = {n: resource.getrlimit(getattr(resource, n)) for n in dir(resource) if n.startswith("RLIMIT_")}
said["prctl"] = {n: libc.prctl(n, 0, 0, 0, 0) for n in (3, 7, 27, 39, 52)}
said["nice"] = [os.getpriority(os.PRIO_PROCESS, 0), os.sched_getscheduler(0), os.sched_getparam(0).sched_priority]
said["session"] = [os.getsid(0) == os.getpid(), os.getpgrp() == os.getpid(), os.getppid()]
said["ns"] = sorted(os.listdir("/proc/self/ns"))
said["who"] = [os.getuid(), os.getgid(), os.geteuid(), os.getgroups(), os.getcwd(), os.uname().nodename]
said["timers"] = [signal.getitimer(n) for n in range(3)] + [signal.alarm(0)]
cpus = sorted(os.sched_getaffinity(0))
seen = []
for cpu in cpus[:4]:
    os.sched_setaffinity(0, {cpu}); seen.append(libc.sched_getcpu() == cpu)
said["cpu"] = all(seen)
libc.getauxval.restype = ctypes.c_ulong; libc.getauxval.argtypes = [ctypes.c_ulong]
said["secure"] = libc.getauxval(23)
print(json.dumps(said))
'''
RANDOM = """\
import ctypes
l = ctypes.CDLL(None)
l.getauxval.restype = ctypes.c_ulong
print(ctypes.string_at(l.getauxval(25), 16).hex())"""
THREADS = ("const fs = require('fs')\nfor (const t of fs.readdirSync('/proc/self/task')) "
           "console.log(fs.readFileSync(`/proc/self/task/${t}/stat`, 'utf8')"
           ".split(') ')[1].split(' ')[16])")


@pytest.mark.parametrize("limits",
                         [{}, {"memory": 64 << 20, "pids": 20, "open_files": 100, "cpu_ms": 3000, "cpu_percent": 50}])
def test_warm_guest_is_to_the_kernel_what_a_cold_one_is(pooled, limits):
    told = json.loads(warm.run(pooled, STATE, limits=limits)["stdout"])
    cold = json.loads(pooled.run(STATE, read_only=False, limits=limits)["stdout"])
    # The driver answers one more signal, which asks for the lines of a program that its deadline ends.
    cold["SigCgt"] = f"{int(cold['SigCgt'], 16) | 1 << signal.SIGURG - 1:016x}"
    assert {k: (v, cold[k]) for k, v in told.items() if v != cold[k]} == {}


def test_warm_guests_do_not_share_the_bytes_that_execve_gives(pooled):
    """AT_RANDOM: libraries make their seeds of it."""
    said = [warm.run(pooled, RANDOM, refill=False)["stdout"] for _ in range(20)]
    assert len(set(said)) == 20 and all(len(s) == 33 for s in said), said


def test_warm_nodes_threads_have_the_usual_priority(pooled):
    assert set(warm.run(pooled, THREADS, "node")["stdout"].split()) == {"0"}


LAYOUT = ("import sys\nprint(hash('belljar'), next(l.split('-')[0] for l in open('/proc/self/maps') if 'libc' in l),"
          " next(l.split('-')[0] for l in open('/proc/self/maps') if 'stack' in l))")


def test_warm_addresses_and_hash_seeds_change_with_the_zygote(start_service, sealed):
    """A new zygote has new addresses and a new hash seed."""
    s = start_service("--set", "pools.zygote_forks=4", "--set", "pools.preload=python")
    assert warm.eventually(lambda: warm.pools(s)["python"]["ready"] > 0, 20)
    seen = []  # while a successor boots, its predecessor is asked on

    def have_changed():
        seen.append(s.run(LAYOUT)["stdout"].split())
        return all(len({row[i] for row in seen}) >= 3 for i in range(3))

    assert warm.eventually(have_changed, 20), seen
    assert warm.pools(s)["python"]["zygotes"] >= 3
