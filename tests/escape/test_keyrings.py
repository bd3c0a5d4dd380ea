"""Kernel keyrings know no namespaces: none can be searched, read or filled."""

from harness import attack, let_through


def test_keyrings_are_out_of_reach():
    found, _ = attack("""
p = ctypes.c_char_p
for ring in (-1, -2, -3, -4, -5):
    found[f"add {ring}"] = sys_call(248, p(b"user"), p(b"canary"), p(b"x"), 1, ring)
    found[f"get {ring}"] = sys_call(250, 0, ring, 1)
    found[f"search {ring}"] = sys_call(250, 10, ring, p(b"user"), p(b"canary"), 0)
found["request"] = sys_call(249, p(b"user"), p(b"canary"), p(b""), -4)
found["join"] = sys_call(250, 1, p(b"x"))
for path in ("/proc/keys", "/proc/key-users"): found[path] = attempt(opened, path, os.O_RDONLY)
""")
    assert len(found) == 19 and not let_through(found), found
