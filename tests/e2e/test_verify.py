"""`belljar verify`: the code of documents, files and commands, each in a jar, and its output compared."""

import json
import os
import re
import shutil
import signal
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest

import harness
from harness import belljar, eventually
from service import Service


@pytest.fixture
def verify(public_path):
    """Verifies a text as doc.md; the checks of the JSON report, or the finished command."""
    def verified(text, *options, raw=False, within=60):
        (public_path / "doc.md").write_bytes(text if isinstance(text, bytes) else text.encode())
        result = belljar("verify", *([] if raw else ["--json"]), *options, "doc.md", cwd=public_path, within=within)
        if raw:
            return result
        assert result.status in (0, 1) and result.err == b"", result
        checks = json.loads(result.out)["checks"]
        good = all(c["outcome"] in ("passed", "skipped") for c in checks)
        assert result.status == (0 if good else 1), result
        return checks
    return verified


def outcomes(checks):
    return [(c["line"], c["outcome"]) for c in checks]


def test_verify_runs_each_block_that_names_a_language(verify):
    checks = verify("# A\n\n```python\nprint(1)\n```\n\n~~~js\nconsole.log(2)\n~~~\n\n```json\n{\n```\n"
                    "```\nno name\n```\n- item\n  ```sh\n  true\n  ```\n```python\nraise SystemExit(3)\n```\n")
    assert outcomes(checks) == [(3, "passed"), (7, "passed"), (18, "passed"), (21, "failed")]
    assert [c["language"] for c in checks] == ["python", "javascript", "bash", "python"]


@pytest.mark.parametrize("expected, good", [
    ("45\n", True), ("45   \n\n", True), ("46\n", False), ("4…\n", True), ("...5\n", True),
    ("…\n", True), ("45\n46\n", False), ("…\n46\n", False), ("44\n…\n", False)])
def test_verify_compares_the_output(verify, expected, good):
    checks = verify(f"```python\nprint(45)\n```\n\n```output\n{expected}```\n")
    assert outcomes(checks) == [(1, "passed" if good else "failed")], checks
    if not good:
        assert "doc.md:6: - expected, + printed\n" in checks[0]["details"] and "\n-" in checks[0]["details"]


def test_verify_takes_a_text_block_for_output_only_directly_below(verify):
    near, far = verify("```python\nprint(1)\n```\n```text\n2\n```\n"
                       "```python\nprint(1)\n```\nA drawing:\n```text\n2\n```\n")
    assert (near["outcome"], far["outcome"]) == ("failed", "passed")


def test_verify_obeys_the_words_after_the_language(verify):
    checks = verify('```python skip="needs a moon"\n1/0\n```\n```python,ignore\n1/0\n```\n'
                    "```python expect-error=ZeroDivisionError\n1/0\n```\n```python expect-error=KeyError\n1/0\n```\n"
                    "```python should_panic\nprint(1)\n```\n```python exit=3\nraise SystemExit(3)\n```\n"
                    "```python exit=3 title=x {.numberLines}\nprint()\n```\n"
                    "```python expect-error=timeout timeout=300ms\nwhile True: pass\n```\n")
    assert [c["outcome"] for c in checks] == ["skipped", "skipped", "passed", "failed", "failed", "passed", "failed",
                                              "passed"]
    assert checks[0]["message"] == "needs a moon"


@pytest.mark.parametrize("fence, said", [
    ("python expct-error", "did you mean 'expect-error'?"), ("python exit=x", "a number from 0 to 255 is accepted"),
    ("python exit", "'exit' needs a value: exit=N"), ("python timeout=soon", "is not a duration"),
    ("python continue", "there is no block in python before this one")])
def test_verify_names_a_mistake_in_the_words(verify, fence, said):
    (check,) = verify(f"```{fence}\nprint(1)\n```\n")
    assert check["outcome"] == "error" and said in check["message"], check


def test_verify_continues_a_block(verify):
    """Each block has its own output, although the blocks before it run again"""
    text = ("```python session=a\nimport time\nx = 1\nprint(time.time_ns())\n```\n```js session=b\nlet y = 5\n```\n"
            "```python session=a expect-error\n1/0\n```\n"
            "```python session=a\nprint(x + 1)\n```\n```output\n2\n```\n"
            "```js continue\nconsole.log(y)\n```\n```output\n5\n```\n"
            "```python session=a\n\nprint(z)\n```\n```python\nprint(x)\n```\n")
    checks = verify(text)
    assert [c["outcome"] for c in checks] == ["passed"] * 5 + ["failed"] * 2
    assert "at doc.md:26\n" in checks[5]["details"]  # a line of the document, not of the program
    # A block that is asked for brings the blocks that it continues.
    assert outcomes(verify(text, "--only", "*:18")) == [(6, "passed"), (18, "passed")]


def test_verify_runs_the_commands_of_a_console_block(verify):
    good, output, status, ends = verify(
        "```console\n$ cd /tmp; x='a\n> b'\n$ pwd; echo \"$x\" |\n>   cat\n/tmp\na\nb\n"
        "$ nosuch\nbash: …: nosuch: command not found\n"
        "$ echo 1 &&\n  echo 2\n1\n2\n$ printf end\nend\n```\n"
        "```console\n$ true\n$ echo 1\n2\n```\n```console\n$ true\n$ false\n```\n```sh\n$ exit 0\n$ echo 1\n```\n")
    assert good["outcome"] == "passed", good
    assert output["outcome"] == "failed" and "doc.md:20: " in output["details"], output
    assert status["message"] == "the command of line 25 ended with exit status 1", status
    assert ends["message"] == "the shell ended in the command of line 28", ends


def test_verify_runs_examples_in_the_style_of_doctest(verify):
    good, bad = verify("```pycon\n>>> x = 2\n>>> x * 'é'\n'éé'\n```\n```python\n>>> 1 + 1\n3\n```\n")
    assert good["outcome"] == "passed", good
    assert bad["outcome"] == "failed" and 'File "doc.md", line 7' in bad["details"] and "Got:\n    2" in bad["details"]


def test_verify_explains_a_failure(verify):
    text = "# A\n\n```python\nprices = {'tea': 3}\nprint(prices['tee'])\n```\n"
    (check,) = verify(text)
    assert check["message"] == "runtime_error: KeyError: 'tee'" and "at doc.md:5\n" in check["details"], check
    assert "Did you mean 'tea'?" in check["details"]
    result = verify(text, raw=True)
    assert result.status == 1 and b"FAIL  doc.md:3 (python): runtime_error: KeyError: 'tee'\n" in result.out
    assert result.out.splitlines()[-1].startswith(b"0 passed, 1 failed in ")


def test_verify_meets_hostile_blocks(verify):
    """Much output, no end, bytes that no report may carry, no closing fence"""
    checks = verify(b"```python\nwhile True: print('x' * 99999)\n```\n```python timeout=500ms\nwhile True: pass\n```\n"
                    b"```python\nimport sys\nsys.stdout.buffer.write(b'\\xff\\x00\\x1b[31m\\xef\\xbf\\xbf')\n```\n"
                    b"```output\nx\n```\n```python\n\n```\n```output\nx\n```\n```python\nprint(1)\n",
                    "--junit", "r.xml")
    assert [c["verdict"] for c in checks[:3]] == ["output_limit", "timeout", "ok"]
    assert [c["outcome"] for c in checks] == ["failed"] * 3 + ["error"] * 2
    assert "\x1b" not in json.dumps(checks[2]["details"], ensure_ascii=False) and "[31m" in checks[2]["details"]
    assert "is empty" in checks[3]["message"] and "is not closed" in checks[4]["message"]


def test_verify_writes_junit_that_a_parser_reads(verify, public_path):
    text = ("```python\nprint(1)\n```\n"
            "```python\nimport sys\nprint('<&\\x00\\x08\\ufffe]]>\\x1b', chr(0x10ffff))\n```\n"
            "```output\n\"a\"\n```\n```ruby skip='a < \"b\"'\nx\n```\n```python exit=x\n```\n")
    assert verify(text, "--junit", "r.xml", raw=True).status == 1
    root = ElementTree.parse(public_path / "r.xml").getroot()
    (suite,) = root
    for element in (root, suite):
        assert [element.get(k) for k in ("tests", "failures", "errors", "skipped")] == ["4", "1", "1", "1"]
        assert float(element.get("time")) >= 0
    assert [c.get("line") for c in suite] == ["1", "4", "11", "14"] and {c.get("file") for c in suite} == {"doc.md"}
    assert [[e.tag for e in c] for c in suite] == [[], ["failure"], ["skipped"], ["error"]]
    assert suite[2][0].get("message") == 'a < "b"' and "+<&\ufffd\ufffd\ufffd]]>\ufffd" in suite[1][0].text


def test_verify_runs_files_and_compares_them(public_path):
    (public_path / "a.py").write_text("print(6 * 7)\n")
    (public_path / "b.js").write_text("console.log(6 * 7)\n")
    (public_path / "b.js.expected").write_text("41\n")
    result = belljar("verify", "-v", "a.py", "b.js", cwd=public_path)
    assert result.status == 1 and b"ok    a.py (python)" in result.out, result
    assert b"FAIL  b.js (javascript)" in result.out and b"-41\n      +42\n" in result.out


def test_verify_finds_documents_by_directory_and_pattern(public_path):
    (public_path / "docs" / "node_modules").mkdir(parents=True)
    (public_path / "docs" / ".git").mkdir()
    for name in ("docs/b.md", "docs/a.md", "docs/.git/c.md", "docs/node_modules/d.md"):
        (public_path / name).write_text("```python\nprint(1)\n```\n")
    (public_path / "docs" / "code.py").write_text("1/0\n")
    for operand in ("docs", "docs/*.md"):
        result = belljar("verify", "--list", operand, cwd=public_path)
        assert result.out.decode().splitlines() == ["docs/a.md:1  python block", "docs/b.md:1  python block"], result
    assert belljar("verify", "-v", "--only", "docs/b*", "docs", cwd=public_path).out.count(b"ok ") == 1


def test_verify_runs_a_command_beside_a_copy_of_the_files(public_path):
    (public_path / "sub").mkdir()
    (public_path / "sub" / "data.txt").write_text("41\n")
    (public_path / "link").symlink_to("/etc/passwd")
    result = belljar("verify", "-v", "--", "bash", "-c",
                     'test ! -e link; echo 42 > sub/data.txt; cat "$1"; exit 4', "x", "sub/data.txt", cwd=public_path)
    assert result.status == 1 and b"ended with status 4" in result.out and b"      42\n" in result.out, result
    assert (public_path / "sub" / "data.txt").read_text() == "41\n"
    assert belljar("verify", "--", "cat", "sub/data.txt", cwd=public_path).status == 0
    assert belljar("verify", "--", "nosuch", cwd=public_path).status == 1


@pytest.mark.parametrize("args, status, said", [
    ((), 64, "nothing to verify"), (("doc.md", "--", "true"), 64, "one of them is accepted at a time"),
    (("nothing.md",), 125, "'nothing.md': No such file"), (("no*.md",), 125, "no file has a name like 'no*.md'"),
    (("latin.md",), 125, "'latin.md' is not UTF-8"), (("fifo",), 125, "'fifo' is not a regular file"),
    (("--only", "perl", "doc.md"), 64, "--only 'perl' is like none of the 1 checks"),
    (("--jobs", "0", "doc.md"), 64, "a whole number from 1 to 64"), (("--memory", "1", "doc.md"), 64, "--memory"),
    (("--junit", "no/r.xml", "doc.md"), 125, "write 'no/r.xml'"), (("plain.md",), 0, "there is no block to run")])
def test_verify_refuses_wrong_operands(public_path, args, status, said):
    (public_path / "doc.md").write_text("```python\nprint(1)\n```\n")
    (public_path / "plain.md").write_text("# Words\n```\ncode\n```\n")
    (public_path / "latin.md").write_bytes(b"# caf\xe9\n")
    os.mkfifo(public_path / "fifo")
    result = belljar("verify", *args, cwd=public_path)
    assert result.status == status and said in result.message, result


def test_verify_says_which_language_is_not_installed(verify, public_path):
    (public_path / "toy.lang").write_text(
        "name = toy\nextensions = .toy\nmain_file = main.toy\ncommand = /usr/bin/nosuch {file}\n"
        "version = /usr/bin/nosuch --version\ninstall = apt-get install toy\n")
    (public_path / "doc.md").write_text("```toy\nx\n```\n")
    result = belljar("verify", "doc.md", cwd=public_path, environ={**os.environ, "BELLJAR_LANGUAGES": str(public_path)})
    assert result.status == 1 and b"language 'toy' is not installed here: 'apt-get install toy'" in result.out, result


@pytest.fixture
def repository(public_path):
    """A git repository with the hook that docs/verify.md shows."""
    if not shutil.which("git"):
        pytest.skip("git is not installed: apt-get install git")
    text = (harness.REPO / "docs" / "verify.md").read_text()
    (hook,) = re.findall(r'```sh skip="is a hook"\n(.*?)```', text, re.S)
    environ = {**os.environ, "PATH": f"{public_path}/bin:{os.environ['PATH']}", "BELLJAR_STATE": "/nonexistent",
               "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    work = public_path / "work"

    def git(*args):
        return subprocess.run(["git", "-C", work, "-c", "user.name=A", "-c", "user.email=a@example.org", *args],
                              env=environ, capture_output=True, text=True, timeout=120, check=False)
    work.mkdir()
    (public_path / "bin").mkdir()
    (public_path / "bin" / "belljar").symlink_to(harness.BELLJAR)
    assert git("init", "-q").returncode == 0
    (work / ".git" / "hooks" / "pre-commit").write_text(hook)
    (work / ".git" / "hooks" / "pre-commit").chmod(0o755)
    return work, git


def test_verify_is_a_hook_of_git(repository):
    """The hook of the documentation, to the letter"""
    work, git = repository
    (work / "a name.md").write_text("```python\nprint(6 * 7)\n```\n```output\n42\n```\n")
    (work / "code.py").write_text("1/0\n")
    assert git("add", ".").returncode == 0
    good = git("commit", "-qm", "a document that is true")
    assert good.returncode == 0 and "1 passed in" in good.stdout + good.stderr, good
    (work / "a name.md").write_text("```python\nprint(6 * 7)\n```\n```output\n41\n```\n")
    bad = git("commit", "-qam", "a document that is false")
    said = bad.stdout + bad.stderr
    assert bad.returncode == 1 and "FAIL  a name.md:1 (python)" in said and "+42" in said, bad
    assert git("log", "--format=%s").stdout == "a document that is true\n"
    # A commit without documents starts nothing.
    assert git("checkout", "-q", ".").returncode == 0
    (work / "code.py").write_text("2/0\n")
    other = git("commit", "-qam", "other")
    assert other.returncode == 0 and other.stdout + other.stderr == "", other


def test_verify_uses_a_service():
    with Service() as s:
        path = harness.public_dir() / "doc.md"
        path.write_text("```python\nprint(1)\n```\n```output\n1\n```\n")
        assert s.cli("verify", path).status == 0
        assert len(s.get("/v1/runs").json["runs"]) == 1
        assert s.cli("verify", "--local", path).status == 0
        assert len(s.get("/v1/runs").json["runs"]) == 1


def test_verify_ends_its_runs_when_it_is_cancelled(public_path):
    (public_path / "doc.md").write_text("```bash\nexec sleep 50\n```\n" * 4)
    (public_path / "tmp").mkdir()
    with harness.Running([harness.BELLJAR, "verify", "--jobs", "2", "doc.md"], cwd=public_path,
                         environ={**os.environ, "TMPDIR": str(public_path / "tmp")}) as running:
        children = f"/proc/{running.pid}/task/{running.pid}/children"
        assert eventually(lambda: len(open(children).read().split()) == 3)  # and the reporter
        runs = open(children).read().split()
        os.kill(running.pid, signal.SIGINT)
        result = running.finish()
    assert result.status == 130 and b"not run" in result.out, result
    assert not any(os.path.exists(f"/proc/{pid}") for pid in runs) and not os.listdir(public_path / "tmp")


def test_verify_reads_results_without_privileges(public_path):
    """CLI: results hold bytes that programs wrote. REPORTER-1"""
    (public_path / "doc.md").write_text("```bash\nexec sleep 50\n```\n")
    environ = {**os.environ, "TMPDIR": str(public_path)}  # the test kills it, and it cannot tidy up
    with harness.Running([harness.BELLJAR, "verify", "doc.md"], cwd=public_path, environ=environ) as running:
        def reporter():
            for pid in open(f"/proc/{running.pid}/task/{running.pid}/children").read().split():
                lines = open(f"/proc/{pid}/status").read().splitlines()
                status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
                # There is no filter under the sanitizers (CONFINE-2).
                if status["NoNewPrivs"] == "1" and (harness.ASAN or status["Seccomp"] == "2"):
                    return status
            return None
        assert eventually(reporter)
        status = reporter()
        assert eventually(lambda: int(reporter()["CapEff"], 16) == 0), status
        assert not harness.ROOT or int(status["Uid"].split()[0]) >= harness.JAR_UIDS, status
