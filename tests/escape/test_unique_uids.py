"""Two jars that live at the same time have different host uids, and neither is the uid of the caller."""

import pytest

from harness import JAR_UIDS, attack, start
from hostview import descendants

WAIT = "print('go', flush=True)\nimport time\ntime.sleep(60)"


def program_of(running):
    found = [p for p in descendants(running.pid) if "python" in p.comm]
    assert len(found) == 1, found
    return found[0]


def test_uids_are_unique_while_jars_live(as_root, here):
    if "own_uid" not in here.layers:
        pytest.skip(f"level {here.level} has one uid for all")
    jars = [start(WAIT, json=False, timeout="50s") for _ in range(5)]
    try:
        for jar in jars:
            assert jar.read_line() == "go"
        programs = [program_of(jar) for jar in jars]
        uids = [p.uid for p in programs]
        assert len(set(uids)) == len(jars) and all(u >= JAR_UIDS for u in uids), uids
        for p in programs:
            with open(f"/proc/{p.pid}/status", encoding="utf-8") as f:
                status = f.read()
            for field in ("Uid", "Gid"):
                ids = next(line.split()[1:] for line in status.splitlines() if line.startswith(field))
                assert set(ids) == {str(p.uid)}, status
    finally:
        for jar in jars:
            jar.__exit__()


def test_no_other_id_can_be_taken():
    from harness import let_through

    found, _ = attack("""
for uid in (0, 1, 65534, 0x70001000, 2**31):
    if uid == os.getuid(): continue
    found[f"uid {uid}"] = attempt(os.setresuid, uid, uid, uid)
    found[f"gid {uid}"] = attempt(os.setresgid, uid, uid, uid)
    found[f"fsuid {uid}"] = "EPERM" if libc.setfsuid(uid) != uid and libc.setfsuid(-1 & 0xffffffff) != uid else "ok"
    found[f"groups {uid}"] = attempt(os.setgroups, [uid])
open("f", "w").close()
found["chown"] = attempt(os.chown, "f", 0, 0)
found["chown other"] = attempt(os.chown, "f", 1001, 1001)
""")
    assert len(found) > 15 and not let_through(found), let_through(found)
