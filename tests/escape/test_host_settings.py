"""Settings of the host: time, host name, sysctls, modules, swap, power. None can be changed."""

import os

from harness import attack, let_through


def test_no_setting_of_the_host_can_be_changed():
    before = os.uname()
    found, _ = attack("""
p = ctypes.c_char_p
now = struct.pack("<qq", int(time.time()), 0)
name = os.uname().nodename.encode()
found["clock_settime"] = sys_call(227, 0, p(now))
found["settimeofday"] = sys_call(164, p(now), None)
found["stime"] = sys_call(159, p(struct.pack("<I", 0x8002) + bytes(204)))
found["adjtime"] = sys_call(305, 0, p(struct.pack("<I", 0x2) + bytes(204)))
found["sethostname"] = sys_call(170, p(name), len(name))
found["setdomainname"] = sys_call(171, p(b"(none)"), 6)
found["reboot"] = sys_call(169, 0xfee1dead - (1 << 32), 672274793, 0, 0)
found["swapon"] = sys_call(167, p(b"main.py"), 0)
found["swapoff"] = sys_call(168, p(b"main.py"))
found["init_module"] = sys_call(175, p(b"x"), 1, p(b""))
found["finit_module"] = sys_call(313, 0, p(b""), 0)
found["delete_module"] = sys_call(176, p(b"x"), 0)
found["kexec_load"] = sys_call(246, 0, 0, None, 0)
found["acct"] = sys_call(163, p(b"main.py"))
found["quotactl"] = sys_call(179, 0, None, 0, None)
found["syslog"] = sys_call(103, 5, None, 0)
found["iopl"] = sys_call(172, 3)
found["ioperm"] = sys_call(173, 0, 1, 1)
found["bpf"] = sys_call(321, 0, p(bytes(128)), 128)
found["perf"] = sys_call(298, p(bytes(128)), 0, -1, -1, 0)
found["io_uring"] = sys_call(425, 1, p(bytes(128)))
found["userfaultfd"] = sys_call(323, 0)
found["vhangup"] = sys_call(153)
found["fanotify"] = sys_call(300, 0, 0)
""")
    assert len(found) == 24 and not let_through(found), let_through(found)
    assert os.uname() == before


def test_hostname_is_the_jars(sealed):
    found, _ = attack("found['n'] = list(os.uname())[1], socket.gethostname()")
    assert found["n"] == ["belljar", "belljar"]
