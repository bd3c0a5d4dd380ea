"""`belljar test` and POST /v1/tests: the tests of a project in a jar, over a copy."""

import json
import os
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest

import harness
from service import Service

CALC = "def add(a, b):\n    return a + b\n\n\ndef div(a, b):\n    return a / b\n"
TESTS = """from calc import add, div


def test_add():
    assert add(1, 2) == 3


def test_wrong():
    assert add(1, 2) == 4


def test_zero():
    div(1, 0)
"""
CASES = """import unittest
from main import add


class Calc(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(1, 2), 3)

    def test_wrong(self):
        self.assertEqual(add(1, 2), 4)
"""


def belljar(*argv, cwd=None):
    return subprocess.run([harness.BELLJAR, *map(str, argv)], cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=120 * harness.PATIENCE, check=False)


@pytest.fixture
def project(tmp_path):
    def made(**files):
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/").replace("_py", ".py")
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        return tmp_path
    return made


@pytest.fixture(scope="module")
def service():
    with Service() as s:
        yield s


def cases(tests):
    return {c["name"]: c for c in tests["cases"]}


def test_each_failing_test_is_told_with_its_diagnosis(project):
    directory = project(calc_py=CALC, test_calc_py=TESTS)
    (directory / "id_rsa").write_text("secret")
    (directory / ".git").mkdir()
    (directory / ".git" / "config").write_text("secret")
    junit = directory / "report.xml"
    done = belljar("test", "--local", "--junit", junit, "--test-runner", "pytest", cwd=directory)
    assert done.returncode == 1, done
    assert "FAIL  test_calc.py::test_wrong\n" in done.stdout and "error[ZeroDivisionError]" in done.stdout
    assert "--> calc.py:6" in done.stdout and "'b' is 0 here" in done.stdout
    assert "pytest: 1 passed, 2 failed" in done.stdout and "report this themselves" in done.stdout
    assert "'id_rsa' is left out" in done.stderr
    assert sorted(p.name for p in directory.iterdir()) == [".git", "calc.py", "id_rsa", "report.xml", "test_calc.py"]
    suite = ElementTree.parse(junit).getroot().find("testsuite")
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "2", "0")
    by_name = {c.get("name"): c for c in suite.findall("testcase")}
    assert by_name["test_calc.py::test_zero"].find("failure").get("type") == "ZeroDivisionError"
    assert by_name["test_calc.py::test_add"].find("failure") is None
    # Arguments go to the runner; only good tests are left, and the status says so.
    done = belljar("test", "--local", "--json", directory, "--", "-k", "test_add")
    result = json.loads(done.stdout)
    assert done.returncode == 0 and result["outcome"] == "passed" and result["verdict"] == "ok"
    assert result["tests"]["total"] == 1 and result["tests"]["source"] == "guest"


def test_the_verdict_comes_from_outside_the_jar(project):
    # The tests print a good report, and the limit says otherwise.
    fake = "print('=== test session starts ===\\na.py::t PASSED', flush=True)\nwhile True: pass\n"
    directory = project(test_fake_py=fake)
    done = belljar("test", "--local", "--json", "--cpu-time", "1s", "--test-runner", "unittest", directory)
    result = json.loads(done.stdout)
    assert done.returncode == 124 and result["verdict"] == "cpu_timeout" and result["outcome"] == "stopped"
    # An early end with status 0, without a report, is no success.
    (directory / "test_fake.py").write_text("import os\nos._exit(0)\n")
    done = belljar("test", "--local", directory)
    assert done.returncode == 125 and "found no tests" in done.stderr, done


def test_the_reporter_has_no_privileges(project):
    """TESTREPORT-1: the result holds bytes of the tests."""
    directory = project(test_slow_py="import time\ntime.sleep(50)\n")
    argv = [harness.BELLJAR, "test", "--local", str(directory)]
    with harness.Running(argv, cwd=directory, environ=dict(os.environ)) as running:
        def reporter():
            for pid in open(f"/proc/{running.pid}/task/{running.pid}/children").read().split():
                lines = open(f"/proc/{pid}/status").read().splitlines()
                status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
                # There is no filter under the sanitizers (CONFINE-2).
                if status["NoNewPrivs"] == "1" and (harness.ASAN or status["Seccomp"] == "2"):
                    return status
            return None
        assert harness.eventually(lambda: (reporter() or {}).get("CapEff", "1").strip("0") == ""), reporter()
        assert not harness.ROOT or int(reporter()["Uid"].split()[0]) >= harness.JAR_UIDS


def test_mistakes_are_one_sentence(project):
    directory = project(main_py="print(1)\n")
    done = belljar("test", directory)
    assert done.returncode == 125 and done.stderr.count("\n") == 1 and "no tests were found" in done.stderr
    done = belljar("test", "--test-runner", "nose", directory)
    assert done.returncode == 64 and "'nose' is not known: one of pytest, unittest" in done.stderr
    done = belljar("test", directory / "nothing")
    assert done.returncode == 125 and done.stderr.count("\n") == 1
    done = belljar("test", "--local", "--test-runner", "unittest", directory)
    assert done.returncode == 125 and "unittest found no tests" in done.stderr
    done = belljar("test", directory, directory)
    assert done.returncode == 64 and "is not a file" in done.stderr


def test_a_project_that_is_too_large_is_refused(project):
    directory = project(test_a_py="def test_a(): pass\n")
    for i in range(5):
        with open(directory / f"data{i}.bin", "wb") as f:
            f.truncate(14 << 20)
    done = belljar("test", "--local", directory)
    assert done.returncode == 125 and "up to 67108864 bytes are accepted" in done.stderr
    with open(directory / "data0.bin", "wb") as f:
        f.truncate(70 << 20)
    done = belljar("test", "--local", directory)
    assert done.returncode == 125 and "up to 16777216 are accepted" in done.stderr


def test_tests_beside_code_over_http(service):
    code = "def add(a, b):\n    return a + b\n"
    tests = "from main import add\ndef test_add():\n    assert add(1, 2) == 3\n" \
            "def test_bad():\n    assert add(1, 2) == 4\n"
    result = service.post("/v1/tests", {"language": "python", "code": code, "tests": tests}).json
    assert result["outcome"] == "failed" and result["verdict"] == "runtime_error"
    assert result["tests"]["runner"] == "pytest" and result["tests"]["source"] == "guest"
    got = cases(result["tests"])
    assert got["test_main.py::test_add"]["outcome"] == "passed"
    bad = got["test_main.py::test_bad"]
    assert (bad["outcome"], bad["file"], bad["line"]) == ("failed", "test_main.py", 5)
    assert bad["diagnosis"]["category"] == "assertion" and bad["diagnosis"]["type"] == "AssertionError"
    # The history has the report, and the request can be sent again.
    kept = service.get(f"/v1/runs/{result['id']}").json
    assert kept["tests"] == result["tests"] and kept["outcome"] == "failed"
    again = service.get(f"/v1/runs/{result['id']}/request").json["request"]
    assert service.post("/v1/runs", again).json["outcome"] == "failed"
    project = {"files": {"main.py": code, "tests/test_a.py": CASES}, "test_runner": "unittest"}
    result = service.post("/v1/tests", project).json
    assert cases(result["tests"])["test_a.Calc.test_add"]["outcome"] == "passed"
    assert result["tests"]["failed"] == 1 and result["limits"]["wall_ms"] == 120000
    result = service.post("/v1/tests", {"files": [{"name": "test_a.py", "content": "import nothere\n"}]}).json
    assert result["tests"]["error"] == 1 and result["outcome"] == "failed"
    assert result["tests"]["cases"][0]["diagnosis"]["type"] == "ModuleNotFoundError"


JS_TESTS = """const test = require('node:test');
const assert = require('node:assert');
const { add } = require('./main');
test('good', () => assert.strictEqual(add(1, 2), 3));
test('bad', () => add.missing.call());
"""
GO_TESTS = """package main

import "testing"

func TestGood(t *testing.T) {
	if Add(1, 2) != 3 {
		t.Fatal("wrong")
	}
}
func TestBad(t *testing.T) {
	var list []int
	_ = list[3]
}
"""
RUBY_TESTS = """require_relative "main"

class AddTest < Minitest::Test
  def test_good = assert_equal(3, add(1, 2))

  def test_bad
    nil.upcase
  end
end
"""
C_PROJECT = {
    "CMakeLists.txt": "cmake_minimum_required(VERSION 3.13)\nproject(x C)\nenable_testing()\n"
                      "add_executable(t t.c)\nadd_test(NAME good COMMAND t)\nadd_test(NAME bad COMMAND t 1)\n",
    "t.c": "#include <assert.h>\nint main(int argc, char **argv) { (void)argv; assert(argc == 1); }\n",
}
SPECS = """require_relative "main"

RSpec.describe "add" do
  it("is good") { expect(add(1, 2)).to eq(3) }
  it("is bad") { nil.upcase }
end
"""
CRATE = {
    "Cargo.toml": '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": "#[test]\nfn good() {}\n\n#[test]\nfn bad() {\n    let list: Vec<i32> = vec![];\n"
                  "    println!(\"{}\", list[list.len()]);\n}\n",
}
# The runner, its request, the names of a good and a bad test, and the type of the error.
RUNNERS = [
    ("node", {"language": "js", "code": "exports.add = (a, b) => a + b;", "tests": JS_TESTS}, "good", "bad",
     "TypeError"),
    ("go", {"language": "go", "code": "package main\n\nfunc Add(a, b int) int { return a + b }\n\nfunc main() {}\n",
            "tests": GO_TESTS}, "TestGood", "TestBad", "runtime error"),
    ("minitest", {"language": "ruby", "code": "def add(a, b) = a + b\n", "tests": RUBY_TESTS}, "AddTest#test_good",
     "AddTest#test_bad", "NoMethodError"),
    ("ctest", {"files": C_PROJECT}, "good", "bad", "SIGABRT"),
    ("rspec", {"language": "ruby", "code": "def add(a, b) = a + b\n", "tests": SPECS, "test_runner": "rspec"},
     "add is good", "add is bad", "NoMethodError"),
    ("cargo", {"files": CRATE}, "good", "bad", "panic"),
]
PROGRAMS = {"node": "/usr/bin/node", "go": "/usr/bin/go", "minitest": "/usr/bin/ruby", "ctest": "/usr/bin/ctest",
            "rspec": "/usr/bin/rspec", "cargo": "/usr/bin/cargo"}


@pytest.mark.parametrize("runner, body, good, bad, error", RUNNERS, ids=[r[0] for r in RUNNERS])
def test_each_runner_tells_its_tests(service, runner, body, good, bad, error):
    if not os.path.exists(PROGRAMS[runner]):
        refused = service.post("/v1/tests", body).error
        assert "is not installed" in refused["message"]
        pytest.skip(f"{runner} is not installed")
    result = service.post("/v1/tests", body).json
    assert result["outcome"] == "failed" and result["tests"]["runner"] == runner, result
    got = cases(result["tests"])
    assert got[good]["outcome"] == "passed" and got[bad]["outcome"] in ("failed", "error"), got
    assert got[bad]["diagnosis"]["type"] == error, got


@pytest.mark.parametrize("runner, tests, name", [("jest", "jest.test.js", "jest.test.js > calc \u203a "),
                                                 ("vitest", "vitest.test.mjs", "vitest.test.mjs > ")])
def test_runners_among_the_packages_of_a_project(runner, tests, name):
    directory = harness.REPO / "tests" / "runners"
    if not (directory / "node_modules" / runner).exists():
        pytest.skip("needs the packages of tests/runners (scripts/test-clients-deps)")
    done = belljar("test", "--json", "--test-runner", runner, directory, "--", tests)
    got = cases(json.loads(done.stdout)["tests"])
    assert done.returncode == 1 and got[name + "good"]["outcome"] == "passed" and len(got) == 2, got
    bad = got[name + "bad"]
    assert (bad["outcome"], bad["file"], bad["line"]) == ("failed", "calc.js", 1), bad
    assert bad["diagnosis"]["type"] == "TypeError" and bad["diagnosis"]["suggestions"], bad


def test_runner_of_npm_that_is_missing_names_its_command(project):
    directory = project(package_json="{}")
    (directory / "a.test.js").write_text("test('x', () => {});\n")
    (directory / "jest.config.js").write_text("module.exports = {};\n")
    done = belljar("test", directory)
    if not os.path.exists("/usr/local/lib/node_modules/jest"):
        assert done.returncode == 125 and "'npm install -g jest' installs it" in done.stderr, done


@pytest.mark.parametrize("body, field, message", [
    ({}, "files", "there are no tests"),
    ({"code": "x = 1", "language": "python"}, "tests", "go together"),
    ({"code": "x", "tests": "y"}, "language", "'language' is missing"),
    ({"code": "x", "tests": "y", "language": "lua"}, "language", "no test runner takes lua code"),
    ({"files": {"main.py": "x = 1"}}, "files", "no tests were found"),
    ({"files": {"test_a.py": "", ".belljar-test.sh": "true"}}, "files", "is taken by the service"),
    ({"files": {"test_a.py": ""}, "test_runner": "nose"}, "test_runner", "nose"),
])
def test_a_wrong_request_names_its_field(service, body, field, message):
    error = service.post("/v1/tests", body).error
    assert error["field"] == field and message in error["message"], error


def test_the_command_asks_a_service_too(service, project):
    directory = project(calc_py=CALC, test_calc_py=TESTS)
    done = subprocess.run([harness.BELLJAR, "test", "--json", str(directory)], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=120, check=False,
                          env=service.environ | {"BELLJAR_STATE": str(service.state)})
    result = json.loads(done.stdout)
    assert done.returncode == 1 and result["tests"]["failed"] == 2 and "queued_at" in result["timings"]
