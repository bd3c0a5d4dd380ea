"""The failing programs of tests/data/diagnosis, and whether their diagnosis is right. See the README.md there.

    scores = score(Corpus().results())
"""

import json
import os
import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import harness
from service import ROOMY, Service

ROOT = harness.REPO / "tests/data/diagnosis"
RECORD = os.environ.get("BELLJAR_RECORD") == "1"
AT_A_TIME = 4
SLOW = ("cpp", "go", "java", "typescript", "rust", "postgres")
LIMITS = {"wall_ms": 20000, "cpu_ms": 20000, "memory": 512 << 20}
COMPILE_LIMITS = {"wall_ms": 60000, "cpu_ms": 60000, "memory": 1024 << 20}


@dataclass
class Case:
    folder: str
    name: str
    line: str
    category: str
    type: str
    rule: str
    pattern: str
    options: dict = field(default_factory=dict)

    language = property(lambda self: self.options.get("language", self.folder))
    path = property(lambda self: next(p for p in sorted((ROOT / self.folder).glob(self.name + ".*")) if p.is_file()))
    recorded = property(lambda self: ROOT / self.folder / "recorded" / (self.name + ".txt"))
    label = property(lambda self: f"{self.folder}/{self.name}")

    @property
    def files(self):
        """Name to text: the program, and the files of the folder NAME.d beside it."""
        main = self.options.get("as", self.path.name)
        found = {main: self.path.read_text()}
        beside = ROOT / self.folder / (self.name + ".d")
        for path in sorted(beside.rglob("*")) if beside.is_dir() else ():
            if path.is_file():
                found[str(path.relative_to(beside))] = path.read_text()
        return found


def read_cases(folder):
    for number, row in enumerate((ROOT / folder / "expect.tsv").read_text().splitlines(), 1):
        if not row.strip() or row.startswith("#"):
            continue
        cells = row.split("\t")
        assert len(cells) in (6, 7), f"{folder}/expect.tsv:{number}: {len(cells)} columns, 6 or 7 are meant"
        options = dict(o.partition("=")[::2] for o in cells[6].split(";") if o) if len(cells) == 7 else {}
        yield Case(folder, *cells[:6], options)


def cases(*folders):
    folders = folders or sorted(p.parent.name for p in ROOT.glob("*/expect.tsv"))
    return [case for folder in folders for case in read_cases(folder)]


def request_of(case):
    o = case.options
    main = o.get("as", case.path.name)
    fields = {"files": {k: {"content": v} for k, v in case.files.items()}, "entry": main, "language": case.language,
              "limits": dict(LIMITS), "stdin": o.get("stdin", "").replace("\\n", "\n")}
    for key in LIMITS.keys() | {"pids", "disk", "files", "output", "open_files"}:
        if key in o:
            fields["limits"][key] = int(o[key])
    if "args" in o:
        fields["args"] = o["args"].split()
    if "allow" in o:
        fields["allow_commands"] = o["allow"].split(",")
    if "check" in o:
        fields["check_types"] = True
    if "compiler" in o:
        fields["compiler_args"] = o["compiler"].split()
    if case.language in ("c", "cpp", "go", "rust", "java", "typescript"):
        fields["compile_limits"] = COMPILE_LIMITS
    return fields


def explain(case):
    """The language is not installed here: explains the recorded output of another machine."""
    if not case.recorded.exists():
        return None
    with tempfile.TemporaryDirectory(prefix="jartest-") as scratch:
        return explain_in(case, Path(scratch))


def explain_in(case, scratch):
    argv = [harness.BELLJAR, "explain", "--json", "--language", case.language]
    for name, text in case.files.items():
        path = scratch / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        argv += ["--source", str(path)]
    done = subprocess.run(argv, input=case.recorded.read_bytes(), capture_output=True, timeout=60, check=False)
    assert done.returncode in (0, 1), done
    return {"verdict": "runtime_error", "stderr": case.recorded.read_text(), "diagnosis": json.loads(done.stdout)}


def run(service, case):
    reply = service.post("/v1/runs", request_of(case), within=120)
    result = reply.json
    missing = reply.status != 200 or (result["verdict"] == "internal_error"
                                      and result.get("error_code") == "not_found") \
        or "is not prepared on this machine" in result["stderr"]
    if missing:
        return explain(case)
    if RECORD and result["verdict"] in ("runtime_error", "compile_error"):
        case.recorded.parent.mkdir(exist_ok=True)
        case.recorded.write_text(result["stderr"] or result["stdout"])
    return result


def results(wanted):
    """Pairs of a case and its result. Every eighth program of a language whose programs take long runs; of the others
    the recorded output is explained. All run in the group soak. With the sanitizers, which do not watch interpreters,
    a few run, and every fourth output is explained."""
    if harness.SOAK:
        return run_all(wanted)
    explainable = lambda case: case.language in SLOW and case.recorded.exists()
    if harness.ASAN:
        run_now, looked_at = wanted[::40], wanted[::4]
    else:
        run_now, looked_at = [case for i, case in enumerate(wanted) if i % 8 == 0 or not explainable(case)], wanted
    rest = [case for case in looked_at if case not in run_now and case.recorded.exists()]
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        explained = list(zip(rest, pool.map(explain, rest)))
    return run_all(run_now) + explained


def run_all(wanted):
    with Service(*ROOMY) as s, ThreadPoolExecutor(AT_A_TIME) as pool:
        return list(zip(wanted, pool.map(lambda case: run(s, case), wanted)))


def judge(case, result):
    """The wrong parts of a diagnosis: a set of line, category, type, suggestion."""
    d = result and result.get("diagnosis")
    if not d:
        return {"line", "category", "type"} | ({"suggestion"} if case.pattern != "-" else set())
    wrong = set()
    place = d["location"] or {}
    line = str(place.get("line") or "-")
    if line != case.line or ("file" in case.options and place.get("file") != case.options["file"]):
        wrong.add("line")
    if d["category"] != case.category:
        wrong.add("category")
    if case.type != "-" and d["type"] != case.type:
        wrong.add("type")
    best = d["suggestions"][0] if d["suggestions"] else None
    if case.pattern != "-" and not (best
                                    and re.search(case.pattern, best["text"] + "\n" + best.get("replacement", ""))):
        wrong.add("suggestion")
    if "sandbox" in case.options and not d["sandbox"]:
        wrong.add("category")
    return wrong


@dataclass
class Score:
    programs: int = 0
    line: int = 0
    category: int = 0
    advised: int = 0
    suggestion: int = 0

    def add(self, case, wrong):
        self.programs += 1
        self.line += "line" not in wrong
        self.category += not wrong & {"category", "type"}
        self.advised += case.pattern != "-"
        self.suggestion += case.pattern != "-" and "suggestion" not in wrong

    def percent(self, what):
        of = self.advised if what == "suggestion" else self.programs
        return 100 * getattr(self, what) / of if of else 100.0


def score(found):
    """Folder to Score, and "all"."""
    scores = {}
    for case, result in found:
        wrong = judge(case, result)
        for name in (case.folder, "all"):
            scores.setdefault(name, Score()).add(case, wrong)
    return scores


def table(scores):
    rows = [f"{'language':<12} {'programs':>8} {'line':>7} {'category':>9} {'advised':>8} {'suggestion':>11}"]
    for name, s in sorted(scores.items(), key=lambda item: (item[0] == "all", item[0])):
        rows.append(f"{name:<12} {s.programs:>8} {s.percent('line'):>6.1f}% {s.percent('category'):>8.1f}% "
                    f"{s.advised:>8} "
                    f"{s.percent('suggestion'):>10.1f}%")
    return "\n".join(rows)


def complaint(case, result):
    wrong = judge(case, result)
    if not wrong:
        return ""
    d = (result or {}).get("diagnosis")
    said = d and {**{k: d[k] for k in ("category", "type", "message", "location", "sandbox", "verdict")},
                  "best": d["suggestions"][0] if d["suggestions"] else None}
    return (f"{case.label}: wrong {', '.join(sorted(wrong))}\n  wanted line {case.line}, {case.category}, {case.type}, "
            f"/{case.pattern}/ {case.options}\n  said {json.dumps(said)}\n"
            f"  stderr {((result or {}).get('stderr') or '')[-600:]!r}")


if __name__ == "__main__":
    import sys
    os.environ.setdefault("BELLJAR_STATE", "/nonexistent/belljar")
    picked = [c for c in cases() if not sys.argv[1:] or any(word in c.label for word in sys.argv[1:])]
    outcome = results(picked)
    print("\n".join(filter(None, (complaint(c, r) for c, r in outcome))))
    print(table(score(outcome)))
