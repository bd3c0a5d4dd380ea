"""`belljar languages`, languages that are files, and the message for a language that is not installed (R2.4, R2.6,
R2.7)."""

import fcntl
import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

import harness
import service as service_harness
from harness import ORDINARY_UID, REPO, belljar, eventually

MINIMAL = """\
name = {name}
extensions = .{name}
main_file = main.{name}
command = {program} {{file}}
version = {program} --version
install = apt-get install {name}
"""


def declared(directory, name, program="/usr/bin/no-such-program", more=""):
    (directory / f"{name}.lang").write_text(MINIMAL.format(name=name, program=program) + more)
    return {**os.environ, "BELLJAR_LANGUAGES": str(directory)}


# ---- the list ----


def test_languages_shows_version_and_how_to_install():
    """R2.7"""
    result = belljar("languages")
    rows = {line.split()[0]: line for line in result.out.decode().splitlines()[1:]}
    assert re.search(r"^python +3\.\d+\.\d+ +yes +apt-get install python3$", rows["python"]), rows["python"]
    assert {"javascript", "bash", "zsh", "ruby", "php", "perl", "lua", "r"} <= set(rows)


def test_languages_as_json_say_the_same(public_path):
    """R2.7"""
    env = declared(public_path, "toy")
    listed = {o["name"]: o for o in json.loads(belljar("languages", "--json", environ=env).out)}
    assert listed["python"]["installed"] is True and listed["python"]["version"][0].isdigit()
    assert listed["python"]["aliases"] == ["py", "python3"] and listed["python"]["compiled"] is False
    assert (listed["toy"]["installed"], listed["toy"]["version"]) == (False, None)
    assert listed["toy"]["install"] == "apt-get install toy"


@pytest.mark.parametrize(
    ("args", "said"),
    [(("install", "cobol"), "Language 'cobol' is not supported: use one of python, "),
     (("prepare", "cobol"), "Language 'cobol' is not supported: use one of python, "),
     (("show", "pyton"), "Language 'pyton' is not supported: did you mean 'python'? Use one of python, "),
     (("show", "cobol"), "Language 'cobol' is not supported: use one of python, "),
     (("show",), "languages show needs a name"), (("show", "python", "ruby"), "'ruby' is one word too many"),
     (("install",), "languages install needs a name: one or more of python, "),
     (("remove", "python"), "languages 'remove': list, install, prepare and show are accepted"),
     (("list", "x"), "'x' is one word too many"), (("--jsn",), "did you mean --json?")],
)
def test_languages_refuses_what_it_does_not_know(args, said):
    """R2.6"""
    result = belljar("languages", *args)
    assert result.status != 0 and result.out == b"" and said in result.message, result


# ---- files ----


def test_every_declaration_is_read_back_as_it_is_shown(public_path):
    """R2.4: under another name, since its own is taken"""
    for o in json.loads(belljar("languages", "--json").out):
        shown = belljar("languages", "show", o["name"]).out.decode()
        text = re.sub(r"(?m)^name = .*", "name = copy", shown)
        text = re.sub(r"(?m)^aliases = .*\n", "", text)  # and so are these
        text = re.sub(r"(?m)^extensions = .*", "extensions = .copy", text)
        (public_path / "copy.lang").write_text(text)
        again = belljar("languages", "show", "copy", environ={**os.environ, "BELLJAR_LANGUAGES": str(public_path)})
        assert again.out.decode() == text, again


def test_the_example_of_the_documentation_works_to_the_letter(public_path):
    """R2.4: docs/languages.md"""
    text = (REPO / "docs" / "languages.md").read_text()
    (public_path / "awk.lang").write_text(re.search(r"(?s)```lang\n(.*?)```", text).group(1))
    console = re.search(r"(?s)```console[^\n]*\n(.*?```)", text).group(1)
    steps = re.findall(r"(?m)^\$ (.*)\n((?:(?!\$ |```).*\n)*)", console)
    assert len(steps) >= 4
    env = {**os.environ, "BELLJAR_LANGUAGES": str(public_path), "BELLJAR_STATE": "/nonexistent",
           "PATH": f"{Path(harness.BELLJAR).parent}:{os.environ['PATH']}"}
    for command, expected in steps:
        done = subprocess.run(["bash", "-c", command], cwd=public_path, env=env, stdin=subprocess.DEVNULL, timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        assert done.stdout.decode() == expected, (command, done)


def test_a_language_that_is_a_file_is_inferred_by_its_hints(public_path):
    """R1.11"""
    text = (REPO / "docs" / "languages.md").read_text()
    (public_path / "awk.lang").write_text(re.search(r"(?s)```lang\n(.*?)```", text).group(1))
    env = {**os.environ, "BELLJAR_LANGUAGES": str(public_path)}
    result = belljar("run", "-", stdin=b"BEGIN {\n  print 6 * 7\n}\n", environ=env)
    assert (result.status, result.out) == (0, b"42\n"), result


def test_a_bad_file_is_told_and_keeps_no_other_from_working(public_path):
    """R2.4"""
    env = declared(public_path, "good", "/bin/bash")
    (public_path / "bad.lang").write_text("name = bad\ncomand = x\n")
    for command in (("languages",), ("doctor",)):
        result = belljar(*command, environ=env)
        said = (result.out + result.err).decode()
        assert "bad.lang line 2: there is no key 'comand': did you mean 'command'?" in said, result
        assert re.search(r"(?m)^.*\bgood +5\.", said), result
    result = belljar("run", "-l", "good", "-", stdin=b"echo it works", environ=env)
    assert (result.status, result.out, result.err) == (0, b"it works\n", b""), result
    assert json.loads(belljar("doctor", "--json", environ=env).out)["language_problems"]


def test_a_directory_that_is_named_must_be_there(public_path):
    result = belljar("languages", environ={**os.environ, "BELLJAR_LANGUAGES": str(public_path / "none")})
    assert result.status != 0 and "none" in result.message and "No such file" in result.message, result


def test_what_others_can_write_is_not_read(public_path):
    """R2.4: its commands would be run with our rights"""
    env = declared(public_path, "toy", "/bin/bash")
    (public_path / "toy.lang").chmod(0o666)
    result = belljar("languages", environ=env)
    words = "toy.lang can be written by others (mode 0666): run 'chmod go-w toy.lang' to have it read"
    assert words in result.message, result
    assert b"\ntoy " not in result.out, result
    (public_path / "toy.lang").chmod(0o644)
    public_path.chmod(0o777)
    result = belljar("languages", environ=env)
    assert result.status != 0 and "can be written by others (mode 0777)" in result.message, result
    public_path.chmod(0o755)
    if os.geteuid() == 0:
        os.chown(public_path / "toy.lang", 12345, 12345)
        assert "belongs to uid 12345" in belljar("languages", environ=env).message


# ---- one that is not installed ----


def test_a_language_that_is_not_installed_is_refused_with_the_way_to_get_it(public_path):
    """R2.6, R2.7"""
    env = declared(public_path, "toy")
    result = belljar("run", "-l", "toy", "-", stdin=b"x", environ=env)
    assert result.status != 0 and result.out == b""
    assert "language 'toy' is not installed here: 'apt-get install toy' installs it" in result.message, result


def test_service_has_the_languages_of_its_directory(public_path):
    """R2.4, R2.6, R2.7"""
    declared(public_path, "toy")
    declared(public_path, "mine", "/bin/bash")
    (public_path / "bad.lang").write_text("nonsense\n")
    with service_harness.Service("--set", f"languages.dir={public_path}", "--set", "pools.max=0") as s:
        def answered():
            listed = {o["name"]: o for o in s.get("/v1/languages").json}
            return listed if listed["mine"]["version"] else None
        listed = eventually(answered, 30)  # they are asked one after the other
        assert listed["mine"]["version"].startswith("5.") and listed["mine"]["installed"] is True
        assert (listed["toy"]["installed"], listed["toy"]["version"]) == (False, None)
        assert listed["python"]["warm"] == ["python-data", "python-std", "python", "python-session", "python-image"]
        assert listed["python"]["compiled"] is False
        result = s.run("echo hello $BASH_VERSION", language="mine")
        assert (result["language"], result["verdict"]) == ("mine", "ok") and result["stdout"].startswith("hello 5.")
        refusal = s.run("x", language="toy", status=400)
        assert "language 'toy' is not installed here: 'apt-get install toy' installs it" in refusal["error"]["message"]
        assert "bad.lang line 1" in s.log()


def test_service_refuses_a_directory_that_it_cannot_use(public_path):
    s = service_harness.Service("--set", f"languages.dir={public_path}/none")
    try:
        s.start(wait=False)
        assert eventually(lambda: s.popen.poll() is not None, 10) and s.popen.returncode != 0
        assert "languages.dir" in s.log() and "No such file" in s.log()
    finally:
        s.end()


def test_service_serves_while_slow_languages_have_not_told_their_version(public_path):
    """R2.7: nobody waits for them, and runs work meanwhile"""
    slow, told = public_path / "slow", public_path / "told"
    slow.write_text(f'#!/bin/bash\nuntil [ -e {told} ]; do sleep 0.1; done; echo 9.8.7\n')  # not before we say so
    slow.chmod(0o755)
    declared(public_path, "late", str(slow))
    (public_path / "late.lang").write_text(
        (public_path / "late.lang").read_text().replace(f"command = {slow}", "command = /bin/bash"))
    with service_harness.Service("--set", f"languages.dir={public_path}", "--set", "pools.max=0") as s:
        late = {o["name"]: o for o in s.get("/v1/languages").json}["late"]
        assert (late["version"], late["installed"]) == (None, True), late
        assert s.run("echo now", language="late")["stdout"] == "now\n"
        told.touch()
        assert eventually(lambda: {o["name"]: o for o in s.get("/v1/languages").json}["late"]["version"] == "9.8.7", 20)


# ---- installing and preparing ----


def test_install_says_what_it_will_do(public_path):
    """R2.7"""
    env = declared(public_path, "toy")
    declared(public_path, "own")
    own = public_path / "own.lang"
    own.write_text(own.read_text().replace("apt-get install own", "touch x && true"))
    result = belljar("languages", "install", "toy", "own", "bash", "--dry-run", environ=env)
    said = result.out.decode()
    assert result.status == 0 and re.search(r"(?m)^bash 5\.\S+ is installed$", said), result
    assert re.search(r"(?m)^==> .*apt-get .*install -y --no-install-recommends toy$", said), result
    assert re.search(r"(?m)^==> .*/bin/sh -c 'touch x && true'$", said), result


@pytest.mark.skipif(os.geteuid() != 0, reason="as root, so that no password is asked for")
def test_install_runs_the_command_and_looks_at_what_came_of_it(public_path):
    """R2.7"""
    program = public_path / "toy"
    env = declared(public_path, "toy", str(program))
    text = (public_path / "toy.lang").read_text()
    (public_path / "toy.lang").write_text(text.replace("apt-get install toy", f"""\
printf '#!/bin/sh\\necho 1.2.3\\n' > {program} && chmod 755 {program}"""))
    result = belljar("languages", "install", "toy", environ=env)
    assert result.status == 0, result
    assert result.out.decode().endswith("""\
toy 1.2.3 is installed now
a running service offers it in a few seconds
"""), result
    program.unlink()
    (public_path / "toy.lang").write_text(text.replace("apt-get install toy", "true && true"))
    result = belljar("languages", "install", "toy", environ=env)
    assert result.status != 0 and "toy was installed, but" in result.message, result
    (public_path / "toy.lang").write_text(text.replace("apt-get install toy", "exit 3 || true"))
    result = belljar("languages", "install", "toy", environ=env)
    assert result.status != 0 and "status 3" in result.message, result


def test_install_of_too_much_at_once_is_refused_whole(public_path):
    """A command that was cut would install some of it, and say that all is well."""
    for n in range(6):
        env = declared(public_path, f"toy{n}")
        file = public_path / f"toy{n}.lang"
        file.write_text(file.read_text().replace(f"apt-get install toy{n}",
                                                 "apt-get install " + " ".join(f"p{n}-{i}" for i in range(100))))
    few = belljar("languages", "install", "--dry-run", *(f"toy{n}" for n in range(4)), environ=env)
    assert few.status == 0 and few.out.decode().rstrip().endswith("p3-99"), few
    many = belljar("languages", "install", "--dry-run", *(f"toy{n}" for n in range(6)), environ=env)
    assert many.status != 0 and "more than 512 packages" in many.message and b"==>" not in many.out, many


@pytest.mark.skipif(os.geteuid() != 0 or os.path.exists("/usr/bin/sudo"), reason="for one who cannot become root")
def test_install_without_root_or_sudo_says_all_that_is_to_be_run(public_path):
    env = declared(public_path, "toy")
    who = ["setpriv", "--reuid", str(ORDINARY_UID), "--clear-groups"]
    result = belljar("languages", "install", "toy", environ=env, prefix=who)
    assert result.status != 0 and "run the commands above as root" in result.message, result
    assert re.search(r"(?m)^==> sudo .* update$", result.out.decode()), result
    assert result.out.decode().rstrip().endswith("toy"), result


def test_install_of_postgres_starts_no_server_of_debians(public_path):
    """Its package would make a database for the machine, and start it."""
    env = declared(public_path, "toy")
    file = public_path / "toy.lang"
    file.write_text(file.read_text().replace("apt-get install toy", "apt-get install postgresql"))
    said = belljar("languages", "install", "--dry-run", "toy", environ=env).out.decode()
    steps = [line.split("==> ", 1)[1] for line in said.splitlines() if line.startswith("==> ")]
    assert [("create_main_cluster = false" in s, " postgresql" in s and "apt-get" in s, "rm -f" in s)
            for s in steps[1:]] == [
        (True, False, False), (False, True, False), (False, False, True)], said


def seeded(public_path, script):
    """A language with something to prepare, of a belljar of its own: its guest directory is changed."""
    version = public_path / "interpreter"
    version.write_text("#!/bin/sh\necho 1.0.0\n")
    version.chmod(0o755)
    folder = public_path / "guest" / "toy"
    folder.mkdir()
    (folder / "prepare").write_text(script)
    languages = public_path / "languages"
    languages.mkdir()
    return folder, declared(languages, "toy", str(version), "seeded = yes\n")


def test_prepare_makes_a_seed_once_for_each_version(belljar_for_everybody, public_path):
    folder, env = seeded(public_path, 'umask 077; echo x >>"$0.count"; mkdir "$1/sub"; date +%N >"$1/sub/file"\n')
    for _ in range(2):
        result = belljar("languages", "prepare", "toy", environ=env)
        assert result.status == 0, result
    assert (folder / "prepare.count").read_text() == "x\n"
    assert result.out == b""
    assert (folder / "seed" / "sub").stat().st_mode & 0o777 == 0o755
    assert (folder / "seed" / "sub" / "file").stat().st_mode & 0o777 == 0o644
    first = (folder / "seed" / "sub" / "file").read_text()
    (public_path / "interpreter").write_text("#!/bin/sh\necho 1.0.1\n")
    assert belljar("languages", "prepare", "toy", environ=env).out == b"==> prepare (toy)\n"
    assert (folder / "prepare.count").read_text() == "x\nx\n"
    assert (folder / "seed" / "sub" / "file").read_text() != first
    assert sorted(p.name for p in folder.iterdir()) == ["prepare", "prepare.count", "seed", "seed.version"]


def test_seed_is_nobodys_to_change(belljar_for_everybody, public_path):
    """The umask of the caller and of the script make no difference: jars can run the prepared files."""
    folder, env = seeded(public_path,
                         'touch "$1/usual"; umask 0; mkdir "$1/open"; touch "$1/open/file"\n'
                         'chmod 0777 "$1/open/file"\n')
    before = os.umask(0)
    try:
        assert belljar("languages", "prepare", "toy", environ=env).status == 0
    finally:
        os.umask(before)
    made = [folder / "seed.version", folder / "seed", *(folder / "seed").rglob("*")]
    assert len(made) == 5 and not [p for p in made
                                   if p.stat().st_mode & 0o022], [(p, oct(p.stat().st_mode)) for p in made]


@pytest.mark.parametrize("what, mode", [(".", 0o777), ("prepare", 0o666)])
def test_script_that_anybody_can_change_is_not_run(belljar_for_everybody, public_path, what, mode):
    folder, env = seeded(public_path, 'touch "$0.ran"\n')
    (folder / what).chmod(mode)
    result = belljar("languages", "prepare", "toy", environ=env)
    assert result.status != 0 and "is writable for every user" in result.message, result
    assert not (folder / "prepare.ran").exists() and not (folder / "seed").exists()


def test_prepare_that_fails_leaves_what_was_there(belljar_for_everybody, public_path):
    folder, env = seeded(public_path, 'echo good >"$1/file"\n')
    assert belljar("languages", "prepare", "toy", environ=env).status == 0
    (folder / "prepare").write_text('echo half >"$1/file"; echo it is broken >&2; exit 3\n')
    result = belljar("languages", "prepare", "toy", environ=env)
    assert result.status != 0 and "it is broken" in result.message and "status 3" in result.message, result
    assert (folder / "seed" / "file").read_text() == "good\n"
    assert not (folder / "seed.new").exists()


def test_prepare_by_several_at_once_makes_one_seed(belljar_for_everybody, public_path):
    folder, env = seeded(public_path, 'echo x >>"$0.count"; sleep 0.3; echo made >"$1/file"\n')
    jobs = [lambda: belljar("languages", "prepare", "toy", environ=env) for _ in range(4)]
    results = service_harness.in_threads(jobs)
    assert [r.status for r in results] == [0] * 4, results
    assert (folder / "prepare.count").read_text() == "x\n"
    assert (folder / "seed" / "file").read_text() == "made\n"


def test_prepare_does_not_wait_for_a_lock_that_a_guest_can_take(belljar_for_everybody, public_path):
    """Jars see the guest directory, and a guest can lock each file that it can open."""
    folder, env = seeded(public_path, 'echo made >"$1/file"\n')
    held = [os.open(p, os.O_RDONLY) for p in (folder.parent, folder, folder / "prepare")]
    try:
        for fd in held:
            fcntl.flock(fd, fcntl.LOCK_EX)
        assert belljar("languages", "prepare", "toy", environ=env).status == 0
        assert (folder / "seed" / "file").read_text() == "made\n"
        lock, = folder.parent.parent.glob(".prepare-*")
        assert lock.stat().st_mode & 0o777 == 0o600
    finally:
        for fd in held:
            os.close(fd)


# ---- Markdown ----


def test_run_takes_the_program_out_of_markdown(public_path):
    """R1.11"""
    page = public_path / "page.md"
    page.write_text("""\
# How to

First `x = f(1)`:

```console
$ make
```

Then:

```python
print(1)
```

```bash
echo 2
```
""")
    assert belljar("run", page).out == b"1\n"
    assert belljar("run", "-l", "bash", page).out == b"2\n"
    page.write_text("# nothing here\n")
    result = belljar("run", page)
    assert result.status != 0 and "the document has no fenced program" in result.message, result


def test_run_takes_fences_off_what_comes_on_stdin():
    """R1.11"""
    assert belljar("run", "-", stdin=b"Sure:\n\n```ruby\nputs 6 * 7\n```\n").out == b"42\n"
    assert belljar("run", "-l", "python", "-", stdin=b"```\r\nprint(1)\r\n```\r\n").out == b"1\n"
    result = belljar("run", "-", stdin=b"```cobol\nDISPLAY 1.\n```\n")
    assert result.status != 0 and "Language 'cobol' is not supported: use one of python, " in result.message, result


def test_service_sees_a_language_that_is_installed_meanwhile(public_path):
    """R2.7"""
    program = public_path / "later"
    declared(public_path, "later", str(program))
    (public_path / "later.lang").write_text(
        (public_path / "later.lang").read_text().replace(f"command = {program}", "command = /bin/bash"))

    def later(s):
        return {o["name"]: o for o in s.get("/v1/languages").json}["later"]

    with service_harness.Service("--set", f"languages.dir={public_path}", "--set", "pools.max=0") as s:
        assert (later(s)["version"], later(s)["installed"]) == (None, False)
        s.run("echo now", language="later", status=400)
        half = public_path / "half"  # a package that is not configured yet: its program fails at first
        half.write_text(f'#!/bin/bash\n[ -e {half}.done ] || {{ touch {half}.done; exit 1; }}\necho 1.2.3\n')
        half.chmod(0o755)
        half.rename(program)
        assert eventually(lambda: later(s)["version"] == "1.2.3", 60)
        assert later(s)["installed"] is True and s.run("echo now", language="later")["stdout"] == "now\n"
        os.kill(s.half("keeper").pid, signal.SIGKILL)
        assert eventually(lambda: s.reachable() and later(s)["version"] == "1.2.3", 60)
