"""Directories of the machine that runs of the service read, beneath roots of the operator (R4.4)."""

import shutil

import pytest

from harness import belljar, public_dir
from service import Service

CODE = "import os\nprint(sorted(os.listdir('/mnt')), open('/mnt/app/a.txt').read(), os.path.exists('/mnt/app/.env'))"


def mounted(code=CODE, language="python", **mount):
    return {"language": language, "code": code, "mounts": [mount]}


@pytest.fixture(scope="module")
def place():
    top = public_dir()
    for name in ("roots/app/src", "roots/app2", "other"):
        (top / name).mkdir(parents=True)
    (top / "roots/app/a.txt").write_text("text")
    (top / "roots/app/src/b.txt").write_text("deeper")
    (top / "roots/app/.env").write_text("PASSWORD=1")
    (top / "other/secret").write_text("secret")
    (top / "roots/link").symlink_to(top / "other")
    (top / "roots/app/inner").symlink_to(top / "roots/app/src")
    yield top
    shutil.rmtree(top, ignore_errors=True)


@pytest.fixture(scope="module")
def mounts(place):
    with Service("--set", f"mounts.roots={place}/roots, {place}/roots/app/src") as s:
        yield s


def test_run_reads_a_mounted_directory(mounts, place):
    """R4.4"""
    reply = mounts.post("/v1/runs", mounted(**{"from": f"{place}/roots/app"}))
    assert reply.json["stdout"] == "['app'] text False\n" and reply.json["verdict"] == "ok", reply
    many = {"language": "bash", "code": "cat /mnt/a/a.txt /mnt/b/b.txt; ls /mnt",
            "mounts": [{"from": f"{place}/roots/app", "to": "a"}, {"from": f"{place}/roots/app/src", "to": "/mnt/b"}]}
    assert mounts.post("/v1/runs", many).json["stdout"] == "textdeepera\nb\n"
    # The next run has no mounts, whether its jar waited for it or not.
    assert mounts.post("/v1/runs", {"language": "bash", "code": "ls /mnt /roots /masks 2>&1"}).json["stdout"].count(
        "No such file") == 2
    # Each run of a batch can have them; a compiler sees none.
    batch = mounts.post("/v1/batches", {"run": many, "inputs": [{"stdin": "1"}, {"stdin": "2"}]}).json
    assert [x["stdout"] for x in batch["results"]] == ["textdeepera\nb\n"] * 2
    code = '#include <stdio.h>\nint main(void) { puts(fopen("/mnt/a/a.txt", "r") ? "y" : "n"); }'
    c = {"language": "c", "code": code, "mounts": many["mounts"][:1]}
    assert mounts.post("/v1/runs", c).json["stdout"] == "y\n"
    c["code"] = '#include "/mnt/a/a.txt"\nint main(void) { return 0; }'
    assert mounts.post("/v1/runs", c).json["verdict"] == "compile_error"


@pytest.mark.parametrize("change, field, words", [
    ({"from": "{top}/other"}, "mounts[0].from", "mounts.roots"), ({"from": "/etc"}, "mounts[0].from", "mounts.roots"),
    ({"from": "{top}/roots2"}, "mounts[0].from", "mounts.roots"), ({"from": "/"}, "mounts[0].from", "'/'"),
    ({"from": "{top}/roots/../other"}, "mounts[0].from", "'..'"), ({"from": "roots/app"}, "mounts[0].from", "absolute"),
    ({"from": "{top}/roots/app", "to": "../x"}, "mounts[0].to", "../x"),
    ({"from": "{top}/roots/app", "to": "/etc"}, "mounts[0].to", "/etc"),
    ({"from": "{top}/roots/app", "secrets": True}, "mounts[0].secrets", "mounts.secrets"),
    ({"from": "{top}/roots/app", "mode": "rw"}, "mounts[0].mode", "mode"), ({"to": "x"}, "mounts[0].from", "from"),
], ids=lambda v: str(v)[:40])
def test_mount_outside_the_roots_is_refused(mounts, place, change, field, words):
    change = {k: v.replace("{top}", str(place)) if isinstance(v, str) else v for k, v in change.items()}
    reply = mounts.post("/v1/runs", mounted(**change))
    assert reply.status in (400, 403) and reply.error["field"] == field and words in reply.error["message"], reply


@pytest.mark.parametrize("name, words", [("link", "symbolic link"), ("app/inner", "symbolic link"),
                                         ("app/a.txt", "not a directory"), ("nothing", "no directory")])
def test_mount_is_opened_beneath_its_root_without_links(mounts, place, name, words):
    """MOUNTS-1: the name is beneath the root, and the directory would not be."""
    r = mounts.post("/v1/runs", mounted("ls -R /mnt", "bash", **{"from": f"{place}/roots/{name}"})).json
    assert (r["verdict"], r["error_code"], r["stdout"]) == ("internal_error", "bad_request", ""), r
    assert words in r["error"], r


def test_approver_sees_each_mount(mounts, place):
    """A mount is a risk by its name, and another mount is another request."""
    ask = {**mounted(**{"from": f"{place}/roots/app"}), "permission_mode": "default", "wait": False}
    asked = mounts.post("/v1/runs", ask).json["approval"]["id"]
    made, = (a for a in mounts.get("/v1/approvals", {"decision": "pending"}).json["approvals"] if a["id"] == asked)
    assert made["input"]["mounts"] == [{"from": f"{place}/roots/app", "to": "app", "secrets": False}]
    assert [(r["kind"], r["excerpt"]) for r in made["risks"]][0] == ("mount", f"{place}/roots/app")
    mounts.post(f"/v1/approvals/{made['id']}", {"decision": "approve", "remember": "exact"})
    again = mounts.post("/v1/runs", {**ask, "wait": True}).json
    assert again["stdout"] == "['app'] text False\n"
    other = mounts.post("/v1/runs", {**ask, "mounts": [{"from": f"{place}/roots/app2", "to": "app"}]}).json
    assert other["state"] == "waiting" and mounts.delete(f"/v1/runs/{other['id']}").status == 202
    denied = {"action": "deny", "match": "contains", "text": "roots/app2"}
    rule = mounts.post("/v1/rules", denied).json
    assert mounts.post("/v1/runs", mounted(**{"from": f"{place}/roots/app2"})).json["verdict"] == "rejected"
    assert mounts.delete(f"/v1/rules/{rule['id']}").status in (200, 204)


def test_service_without_roots_mounts_nothing(service, place):
    reply = service.post("/v1/runs", mounted(**{"from": f"{place}/roots/app"}))
    assert reply.status == 403 and "mounts.roots" in reply.error["message"], reply


@pytest.mark.parametrize("roots, words", [("/", "'/'"), ("x", "absolute"), ("{top}/nothing", "no directory"),
                                          ("{top}/roots/link", "symbolic link"), ("/proc", "proc"),
                                          (",".join(["/srv"] * 17), "up to 16")])
def test_bad_root_is_refused_at_the_start(public_path, place, roots, words):
    result = belljar("serve", "--state", public_path / "state", "--set",
                     "mounts.roots=" + roots.replace("{top}", str(place)))
    assert result.status != 0 and b"mounts.roots" in result.err and words.encode() in result.err, result
