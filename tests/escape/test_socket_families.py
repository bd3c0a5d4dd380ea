"""Socket families with a kernel attack surface or that ignore network namespaces: AF_VSOCK, AF_ALG, AF_PACKET, netlink,
AF_UNIX out-of-band (CVE-2025-38236)."""

from harness import attack, let_through

AF_UNIX, AF_INET, AF_INET6 = 1, 2, 10


def test_only_ordinary_families_exist():
    found, _ = attack("""
for family in list(range(0, 64)) + [-1, 1 << 31, (1 << 32) | 40, (1 << 32) | 16]:
    for kind in (1, 2, 3, 5):
        got = sys_call(41, family, kind, 0)
        if got.startswith("ok"):
            os.close(int(got[4:])); found.setdefault(str(family), []).append(kind)
found["ran"] = 1
""")
    assert found.pop("ran")
    families = {int(k) for k in found}
    assert families <= {AF_UNIX, AF_INET, AF_INET6}, found
    assert all(3 not in kinds for family, kinds in found.items() if int(family) != AF_UNIX), f"raw sockets: {found}"


def test_the_hypervisor_cannot_be_reached():
    """vsock knows no network namespaces: CID 2 is the host of this machine."""
    found, _ = attack("""
def reach(cid):
    s = socket.socket(40, socket.SOCK_STREAM); s.settimeout(1); s.connect((cid, 22)); return "connected"
for cid in (0, 1, 2, 3): found[str(cid)] = attempt(reach, cid)
found["/dev/vsock"] = attempt(opened, "/dev/vsock", os.O_RDONLY)
""")
    assert len(found) == 5 and not let_through(found), found


def test_dangerous_families_one_by_one():
    found, _ = attack("""
for name, args in {"alg": (38, 5, 0), "packet": (17, 3, 768), "netlink route": (16, 3, 0),
                   "netlink netfilter": (16, 3, 12),
                   "netlink kobject": (16, 2, 15), "xdp": (44, 3, 0), "can": (29, 3, 1), "bluetooth": (31, 3, 1),
                   "tipc": (30, 5, 0), "rds": (21, 5, 0), "kcm": (41, 5, 0), "smc": (43, 1, 0), "qipcrtr": (42, 2, 0),
                   "pppox": (24, 1, 0), "mctp": (45, 2, 0), "raw ip": (2, 3, 1), "ping": (2, 2, 1),
                   "mptcp": (2, 1, 262),
                   "sctp": (2, 1, 132), "dccp": (2, 6, 33), "udplite": (2, 2, 136)}.items():
    found[name] = sys_call(41, *args)
    found[name + " pair"] = sys_call(53, *args, ctypes.create_string_buffer(8))
""")
    assert len(found) == 42 and not let_through(found), let_through(found)


def test_out_of_band_data_on_unix_sockets_is_refused():
    found, _ = attack("""
try:
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
except OSError as e:
    found["no socket"] = name_of(e.errno)
else:
    a.send(b"x"); found["control"] = b.recv(1).decode()
    found["send"] = attempt(a.send, b"o", socket.MSG_OOB)
    found["sendmsg"] = attempt(a.sendmsg, [b"o"], [], socket.MSG_OOB)
    b.settimeout(1)
    found["recv"] = attempt(b.recv, 1, socket.MSG_OOB)
""")
    assert found.pop("control", "x") == "x" and not let_through(found), found
