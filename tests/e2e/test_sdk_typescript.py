"""The TypeScript package of sdk/typescript. One node process makes all checks (sdk/typescript/test/checks.mjs) against
a real service; each test here asks for the result of one."""

import json
import os
import re
import shutil
import subprocess

import pytest

import harness
from harness import REPO, SOAK
from service import ROOMY, Service, in_threads

# The package is about its own code; other tests have the code of the service under the sanitizers.
pytestmark = pytest.mark.release_only
PACKAGE = REPO / "sdk" / "typescript"


def node(program, s, key, *args, within=120):
    env = {**os.environ, "BELLJAR_URL": f"http://127.0.0.1:{s.port}", "BELLJAR_API_KEY": key,
           "BELLJAR_SOCKET": str(s.socket_path), "PATIENCE": str(harness.PATIENCE),
           "STREAMS": "1000" if SOAK else "100"}
    return subprocess.run([shutil.which("node"), str(program), *args], capture_output=True, text=True, env=env,
                          timeout=within * harness.PATIENCE)


@pytest.fixture(scope="module")
def checks():
    if not shutil.which("node"):
        pytest.skip("node is not installed")
    with Service(*ROOMY, "--set", "runs.queue=1200", "--set", "network.max=example.org:443") as s:
        key = s.add_key("operator", "admin")
        ran = node(PACKAGE / "test" / "checks.mjs", s, key)
        more = documents_and_examples(s, key)
    found = {line["name"]: line["error"] for line in map(json.loads, ran.stdout.splitlines())}
    assert ran.returncode == 0 and found, ran

    def passed(name):
        assert found.pop(name) is None, found
    passed.more = more
    yield passed


def documents_and_examples(s, key):
    """[(code, expected output, the process that ran it)]"""
    folder = harness.public_dir()
    (folder / "node_modules").mkdir()
    (folder / "node_modules" / "belljar").symlink_to(PACKAGE)
    found = [(code, expected.strip()) for code, expected in re.findall(
        r"```js\n(.*?)```\n```output\n(.*?)```\n", (PACKAGE / "README.md").read_text(), re.S)]
    for i, (code, _) in enumerate(found):
        (folder / f"{i}.mjs").write_text(code)
    tool = REPO / "examples" / "agents" / "vercel_tool.mjs"
    programs = [*(folder / f"{i}.mjs" for i in range(len(found))), tool]
    found.append((tool.name, "{ output: '[ 1, 4, 9 ]\\n' }\n…NameError: name 'undefined_name'…\nTimeoutError"))
    ran = in_threads([lambda program=program: node(program, s, key) for program in programs])
    return [(code, expected, result) for (code, expected), result in zip(found, ran)]


def test_sdk_typescript_runs_programs_with_everything_that_a_run_takes(checks):
    checks("runs")


def test_sdk_typescript_a_failure_is_a_result_or_an_error_with_the_diagnosis(checks):
    checks("failures")


def test_sdk_typescript_streams_are_async_iterators_and_take_stdin(checks):
    checks("streams")


def test_sdk_typescript_leaving_early_and_abort_signals_cancel_the_run(checks):
    checks("cancels")


def test_sdk_typescript_many_runs_and_the_history(checks):
    checks("many")


def test_sdk_typescript_sessions_run_cells_with_rich_output(checks):
    checks("sessions")


def test_sdk_typescript_sessions_travel_in_time(checks):
    checks("travel")


def test_sdk_typescript_templates_approvals_rules_artifacts_and_keys(checks):
    checks("lists")


def test_sdk_typescript_refusals_are_typed_errors(checks):
    checks("refusals")


def test_sdk_typescript_a_service_that_goes_away_is_an_error_and_never_a_hang(checks):
    checks("goneAway")


def test_sdk_typescript_retries_only_where_it_is_safe(checks):
    checks("retries")


def test_sdk_typescript_unix_sockets_and_the_package_for_browsers(checks):
    checks("sockets")


def test_sdk_typescript_a_thousand_streams_without_a_failure(checks):
    """A thousand in the group `soak`, a hundred otherwise: of as many runs, and then of one run."""
    checks("streamsAtOnce")


def test_sdk_typescript_overhead_is_small(checks):
    checks("overhead")


def test_sdk_typescript_examples_of_the_readme_and_the_recipe_are_true(checks):
    assert len(checks.more) >= 6 and len(checks.more[0][0].strip().splitlines()) <= 5
    for code, expected, result in checks.more:
        pattern = "(?s)" + ".*?".join(map(re.escape, expected.split("…")))
        assert result.returncode == 0 and re.fullmatch(pattern, result.stdout.strip()), (code, result)


def test_sdk_typescript_package_has_what_it_exports(checks):
    package = json.loads((PACKAGE / "package.json").read_text())
    assert not package.get("dependencies") and package["type"] == "module"
    for path in package["exports"]["."].values():
        assert (PACKAGE / path).is_file(), path
    made = {path.stem for path in (PACKAGE / "dist").glob("*.js")}
    assert made == {path.stem for path in (PACKAGE / "src").glob("*.ts") if not path.name.endswith(".d.ts")}
