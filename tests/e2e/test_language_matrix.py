"""Every installed language does everything that a language must (R2, R1.1, R1.4), on the command line and in the
service.

All programs run first, a few at a time. Each test then looks at one result. The results are printed as a matrix.
"""

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

import harness
import service as service_harness
from harness import PATIENCE, Running, belljar, given_time, public_dir
from languages import COLUMNS, PROGRAMS

# The sanitizers do not watch interpreters: one language with a compiler and one without are enough for them.
WANTED = [lang for lang in PROGRAMS if not harness.ASAN or lang in ("python", "c")]
CELLS = [(lang, column) for lang in WANTED for column in COLUMNS]
AT_A_TIME = 4
# A compiler takes long while the other tests keep the machine busy.
WITHIN = 120


def known():
    return {o["name"]: o for o in json.loads(belljar("languages", "--json").out)}


LANGUAGES = known()


def why_not(lang):
    if lang not in LANGUAGES:
        return f"{lang}: this build does not have it"
    if not LANGUAGES[lang]["installed"]:
        return f"{lang}: not installed; '{LANGUAGES[lang]['install']}' installs it"
    return None


def limits_of(cell):
    """Room for compilers and virtual machines. Only the limit that the cell tests is tight."""
    return {"wall_ms": 20000 * PATIENCE, "memory": "512m", **cell.limits}


def by_command(lang, cell):
    scratch = public_dir()
    main = scratch / LANGUAGES[lang]["main_file"]
    main.write_text(cell.code)
    argv = [harness.BELLJAR, "run", "--local", "--json", "-l", lang]
    limits = limits_of(cell)
    argv += ["--timeout", f"{limits['wall_ms']}ms", "--memory", limits["memory"]]
    for name, text in cell.files.items():
        (scratch / name).parent.mkdir(exist_ok=True)
        (scratch / name).write_text(text)
        argv += ["--file", f"{scratch / name}:{name}"]
    argv += [str(main), *(["--", *cell.args] if cell.args else [])]
    with Running(argv, stdin=subprocess.PIPE, scratch=scratch) as running:
        return running.finish((cell.stdin or "").encode(), WITHIN).json


def by_service(service):
    def run(lang, cell):
        main = LANGUAGES[lang]["main_file"]
        fields = {"language": lang, "limits": limits_of(cell), "args": list(cell.args)}
        if cell.stdin is not None:
            fields["stdin"] = cell.stdin
        if cell.files:
            fields.update(files={main: cell.code, **cell.files}, entry=main)
        else:
            fields["code"] = cell.code
        reply = service.post("/v1/runs", fields, within=WITHIN)
        return reply.json if reply.status == 200 else {"refused": repr(reply)}

    return run


def run_all(run):
    wanted = [(lang, column) for lang, column in CELLS if PROGRAMS[lang][column] and not why_not(lang)]
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        results = pool.map(lambda cell: guarded(run, *cell), wanted)
        return dict(zip(wanted, results))


def guarded(run, lang, column):
    cell = PROGRAMS[lang][column]
    try:
        if column != "timeout":
            return run(lang, cell)
        # A busy machine needs more time before the program has printed its output.
        return given_time(lambda ms: run(lang, replace(cell, limits={**cell.limits, "wall_ms": ms})),
                          cell.limits["wall_ms"],
                          spoke=lambda result: not faults(cell, result))
    except Exception as e:  # the test that looks at it reports it
        return {"failed": repr(e)}


def faults(cell, result):
    """The differences from the expected result, in words."""
    if "verdict" not in result:
        return [repr(result)]
    said = result["stdout"] + result["stderr"]
    if result.get("compile"):
        said += json.dumps(result["compile"], ensure_ascii=False)
    found = []
    if result["verdict"] not in cell.verdict:
        found.append(f"verdict {result['verdict']}, not {' or '.join(cell.verdict)}")
    if cell.out is not None and result["stdout"] != cell.out:
        found.append(f"stdout {result['stdout']!r}, not {cell.out!r}")
    if cell.exit_code is not None and result["exit_code"] != cell.exit_code:
        found.append(f"exit code {result['exit_code']}, not {cell.exit_code}")
    return found + [f"{word!r} is not in what it said" for word in cell.has if word not in said]


@pytest.fixture(scope="module")
def results(record_matrix):
    with service_harness.Service(*service_harness.ROOMY, "--set", "pools.preload=used") as service:
        all_results = {"command": run_all(by_command), "service": run_all(by_service(service))}
    record_matrix(matrix(all_results))
    return all_results


def mark(lang, column, results):
    cell = PROGRAMS[lang][column]
    if cell is None:
        return "-"
    if why_not(lang):
        return "skip"
    bad = [way for way in ("command", "service") if faults(cell, results[way][(lang, column)])]
    return "ok" if not bad else "FAIL"


def matrix(results):
    widths = [max(len(column), 4) for column in COLUMNS]
    lines = ["languages x what they must do (command line and service)",
             f"{'':12}" + "  ".join(c.ljust(w) for c, w in zip(COLUMNS, widths)) + "  version"]
    for lang in WANTED:
        marks = [mark(lang, column, results) for column in COLUMNS]
        version = LANGUAGES.get(lang, {}).get("version") or "not here"
        lines.append(f"{lang:12}" + "  ".join(m.ljust(w) for m, w in zip(marks, widths)) + "  " + version)
    return lines + sorted(filter(None, (why_not(lang) for lang in WANTED)))


@pytest.mark.parametrize("way", ["command", "service"])
@pytest.mark.parametrize(("lang", "column"), [pytest.param(*c, id=f"{c[0]}-{c[1].replace(' ', '_')}") for c in CELLS
                                              if PROGRAMS[c[0]][c[1]]])
def test_every_language_does_what_a_language_must(lang, column, way, results):
    """R1.1, R1.4, R2"""
    if why_not(lang):
        pytest.skip(why_not(lang))
    result = results[way][(lang, column)]
    assert not faults(PROGRAMS[lang][column], result), (faults(PROGRAMS[lang][column], result), result)


def test_every_language_of_this_build_is_in_the_matrix():
    assert set(LANGUAGES) <= set(PROGRAMS)
    assert all(set(PROGRAMS[lang]) == set(COLUMNS) for lang in PROGRAMS)
