"""A uid for each keeper: a keeper that a guest takes over has nothing of another keeper."""

import os
import shutil
import subprocess

from harness import belljar, start
from service import Service
from test_privileges import SLEEP, keeper_of, status_of

OLD_UID = 0x70000000  # of every keeper of root in older versions


def uid_of(pid):
    uid, = set(status_of(pid)["Uid"].split())
    return int(uid)


def opens(uid, path):
    """Whether a process with nothing but this uid can open the file."""
    done = subprocess.run(["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "head", "-c1", str(path)],
                          capture_output=True, timeout=20)
    return done.returncode == 0


def owners(data):
    return {path.lstat().st_uid for path in (data, *data.rglob("*"))}


def test_no_two_keepers_share_a_uid(as_root):
    with Service() as one, Service() as two, start(SLEEP, json=False) as running:
        uids = [uid_of(one.half("keeper").pid), uid_of(two.half("keeper").pid), uid_of(keeper_of(running))]
        assert len(set(uids)) == 3 and min(uids) > OLD_UID, uids
        databases = [s.state / "data" / "belljar.db" for s in (one, two)]
        for i, uid in enumerate(uids):
            for j, database in enumerate(databases):
                assert opens(uid, database) == (i == j), (uid, database)
        for s, uid in zip((one, two), uids):
            assert (s.state / "keeper").read_text() == f"{uid}\n"
            st = (s.state / "keeper").stat()
            assert (st.st_uid, st.st_mode & 0o777) == (0, 0o600)


def test_uid_of_a_service_is_stable_and_its_data_follow_it(as_root):
    with Service() as s:
        first = uid_of(s.half("keeper").pid)
        s.run(code="print(1)", language="python")
        s.stop()
        data = s.state / "data"
        assert owners(data) == {first}
        s.start()
        assert uid_of(s.half("keeper").pid) == first
        # A copy that runs beside the original.
        shutil.copytree(s.state, s.scratch / "copy", ignore=shutil.ignore_patterns("*.sock"))
        subprocess.run(["chown", "-R", "--reference", data, s.scratch / "copy" / "data"], check=True)
        with Service(state=s.scratch / "copy") as copy:
            second = uid_of(copy.half("keeper").pid)
            assert second != first and owners(copy.state / "data") == {second}
            assert len(copy.get("/v1/runs").json["runs"]) == 1
        s.stop()
        # As an older version left it.
        (s.state / "keeper").unlink()
        for path in (data, *data.rglob("*")):
            os.lchown(path, OLD_UID, OLD_UID)
        s.start()
        third = uid_of(s.half("keeper").pid)
        assert third > OLD_UID and owners(data) == {third}
        assert len(s.get("/v1/runs").json["runs"]) == 1


def test_keys_of_a_service_that_never_ran_belong_to_its_keeper(as_root):
    s = Service()
    try:
        assert belljar("keys", "add", "x", "--scopes", "run,read", "--state", str(s.state)).status == 0
        uid = int((s.state / "keeper").read_text())
        assert owners(s.state / "data") == {uid}
        s.start()
        assert uid_of(s.half("keeper").pid) == uid and s.get("/v1/runs").status == 401
    finally:
        s.end()
