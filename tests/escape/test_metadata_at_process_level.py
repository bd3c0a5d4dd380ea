"""Landlock does not govern chmod, chown, utime, truncate and attributes: at level process the filter does."""

import os

from harness import attack, run_sh


def test_files_of_the_caller_keep_their_mode_times_and_owner(public_path):
    victim = public_path / "key"
    victim.write_text("secret")
    victim.chmod(0o666)  # also to a uid of its own
    before = victim.stat()
    found, run = attack(f"""
v = {str(victim)!r}
found["open"] = attempt(open, v)
found["chmod"] = attempt(os.chmod, v, 0o777)
found["chown"] = attempt(os.chown, v, os.getuid(), -1)
found["utime"] = attempt(os.utime, v, (1, 1))
found["utime by name"] = sys_call(280, -100, v.encode(), None, 0)
found["truncate"] = attempt(os.truncate, v, 0)
found["setxattr"] = attempt(os.setxattr, v, "user.x", b"1")
""", isolation="process")
    assert run.level == "process" and found.pop("open") == "EACCES", found
    assert set(found.values()) == {"EPERM"}, found
    after = victim.stat()
    assert (after.st_mode, after.st_mtime_ns, after.st_size) == (before.st_mode, before.st_mtime_ns, before.st_size)


def test_own_files_can_still_be_touched():
    result = run_sh("touch a && touch a && echo fine", isolation="process")
    assert (result.verdict, result.stdout) == ("ok", "fine\n"), result
