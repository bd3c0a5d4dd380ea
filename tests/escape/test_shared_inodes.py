"""/usr is the same inodes in every jar and on the host: nobody may watch them."""

from harness import attack, run_py


def test_nobody_can_watch_what_the_host_runs():
    found, _ = attack("""
import fcntl
found["inotify_init1"] = sys_call(294, 0)
found["inotify_init"] = sys_call(253)
found["inotify_add_watch"] = sys_call(254, 0, b"/usr/bin", 0x20)
found["dnotify"] = attempt(fcntl.fcntl, os.open("/usr/bin", os.O_RDONLY), fcntl.F_NOTIFY, 1)
""")
    assert found["dnotify"] == "EPERM" and {found[k] for k in found if k != "dnotify"} == {"ENOSYS"}, found


def test_pipes_stay_as_large_as_they_are():
    """They count against the keeper that made them."""
    found, _ = attack("import fcntl\nfound['x'] = attempt(fcntl.fcntl, 1, 1031, 1 << 20)")
    assert found == {"x": "EPERM"}


def test_guests_go_first_when_the_host_runs_out_of_memory(sealed):
    assert run_py("print(open('/proc/self/oom_score_adj').read())").stdout.strip() == "500"
