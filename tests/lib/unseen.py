"""The programs of tests/data/unseen, which no rule was adapted to, and whether their diagnosis is right. See the
README.md there.

    python3 tests/lib/unseen.py [--all] [WORD]...    the wrong ones (or all) whose file/name has a word, and the score
"""

import re
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import harness
from service import ROOMY, Service

ROOT = harness.REPO / "tests/data/unseen"
AT_A_TIME = 4
MAIN = {"python": "main.py", "javascript": "main.js", "typescript": "main.ts", "go": "main.go", "c": "main.c",
        "cpp": "main.cpp", "java": "Main.java", "ruby": "main.rb", "php": "main.php", "lua": "main.lua",
        "perl": "main.pl", "bash": "main.sh", "sqlite": "main.sql",
        "rust": "main.rs"}
COUNTS = ("programs", "advised", "line", "category", "good", "false", "more")
LIMITS = {"wall_ms": 20000, "cpu_ms": 20000, "memory": 512 << 20}


@dataclass
class Program:
    group: str
    name: str
    language: str
    lines: list
    categories: list
    good: str
    false: str
    more: int
    text: str

    label = property(lambda self: f"{self.group}/{self.name}")


def read(group):
    found = []
    for block in re.split(r"^=== ", (ROOT / (group + ".txt")).read_text(), flags=re.M)[1:]:
        head, _, rest = block.partition("\n")
        name, language, lines, categories = (cell.strip() for cell in head.split("|"))
        keys = {"good": "-", "false": "", "more": "0"}
        while (m := re.match(r"(good|false|more): (.*)\n", rest)):
            keys[m[1]], rest = m[2], rest[m.end():]
        found.append(Program(group, name, language, lines.split("/"), categories.split("/"), keys["good"],
                             keys["false"], int(keys["more"]), rest))
    names = [p.name for p in found]
    assert len(set(names)) == len(names), f"{group}: a name is there twice"
    return found


def programs():
    return [p for path in sorted(ROOT.glob("*.txt")) for p in read(path.stem)]


def is_log(program):
    return "logs" in program.group


def run(service, program):
    """The diagnosis; None when there is none; "ok" when the program did not fail; "missing" without the language."""
    if is_log(program):
        return service.post("/v1/diagnoses", {"stderr": program.text}).json["diagnosis"]
    main = MAIN[program.language]
    fields = {"files": {main: {"content": program.text}}, "entry": main, "language": program.language,
              "limits": LIMITS, "compile_limits": {"wall_ms": 60000, "cpu_ms": 60000, "memory": 1024 << 20},
              "check_types": program.language == "typescript"}
    reply = service.post("/v1/runs", fields, within=120)
    result = reply.json
    if reply.status != 200 or result["verdict"] == "internal_error" \
            or "is not prepared on this machine" in result["stderr"]:
        return "missing"
    return "ok" if result["verdict"] == "ok" else result.get("diagnosis")


def results(wanted):
    with Service(*ROOMY) as s, ThreadPoolExecutor(AT_A_TIME) as pool:
        return list(zip(wanted, pool.map(lambda program: run(s, program), wanted)))


def parses(text):
    try:
        compile(text, "main.py", "exec")
    except SyntaxError as e:
        return e.lineno or 0
    return None


def bad_replacement(program, d):
    """A corrected line that Python cannot read, or that changes nothing."""
    if is_log(program) or program.language != "python":
        return False
    for s in d["suggestions"]:
        line = (d["location"] or {}).get("line")
        if s.get("action") != "replace" or not line:
            continue
        lines = program.text.split("\n")
        if lines[line - 1] == s["replacement"]:
            return True
        lines[line - 1] = s["replacement"]
        problem = parses("\n".join(lines))
        if problem is not None and problem <= line:
            return True
    return False


def judge(program, d):
    """The wrong parts of a diagnosis: a set of line, category, good, false, more."""
    if program.categories == ["none"]:
        return {"false"} if d else set()
    if not d:
        return {"line", "category"} | ({"good"} if program.good != "-" else set()) \
            | ({"more"} if program.more else set())
    wrong = set()
    if "-" not in program.lines and str((d["location"] or {}).get("line") or "-") not in program.lines:
        wrong.add("line")
    if "-" not in program.categories and d["category"] not in program.categories:
        wrong.add("category")
    if is_log(program) and program.language != "-" and d["language"] != program.language:
        wrong.add("category")
    texts = [f"{s['text']}\n{s.get('replacement', '')}" for s in d["suggestions"]]
    if program.good != "-" and not (texts and re.search(program.good, texts[0], re.I)):
        wrong.add("good")
    if program.false and any(re.search(program.false, t, re.I) for t in texts) or bad_replacement(program, d):
        wrong.add("false")
    if len((d.get("further_errors") or {}).get("errors", [])) < program.more:
        wrong.add("more")
    return wrong


def score(found):
    """Group to {programs, advised, line, category, good, false}: counts."""
    scores = {}
    for program, d in found:
        if d in ("ok", "missing"):
            continue
        wrong = judge(program, d)
        for name in (program.group, "all"):
            s = scores.setdefault(name, dict.fromkeys(COUNTS, 0))
            s["programs"] += 1
            s["advised"] += program.good != "-"
            s["good"] += program.good != "-" and "good" not in wrong
            s["more"] += "more" in wrong
            s["false"] += "false" in wrong
            for key in ("line", "category"):
                s[key] += key not in wrong
    return scores


def table(scores):
    rows = [f"{'programs':<22} {'number':>7} {'line':>7} {'category':>9} {'good':>16} {'false':>7} {'further':>8}"]
    for name, s in scores.items():
        rows.append(f"{name:<22} {s['programs']:>7} {100 * s['line'] / s['programs']:>6.1f}% "
                    f"{100 * s['category'] / s['programs']:>8.1f}% {s['good']:>4}/{s['advised']:<4}"
                    f"{100 * s['good'] / (s['advised'] or 1):>6.1f}% {s['false']:>7} {s['more']:>8}")
    return "\n".join(rows)


def complaint(program, d):
    if isinstance(d, str):
        return f"{program.label}: {d}"
    wrong = judge(program, d)
    if not d:
        return f"{program.label}: wrong {', '.join(sorted(wrong))}: no diagnosis"
    said = "; ".join(f"{s['text']} => {s.get('replacement', '')!r}" for s in d["suggestions"]) or "(no advice)"
    meant = f"(meant {program.lines} {program.categories} /{program.good}/)"
    return (f"{program.label}: {'wrong ' + ', '.join(sorted(wrong)) if wrong else 'right'}\n"
            f"    {d['language']} {d['category']} {d['type']}: {(d['message'] or '')[:120]} at "
            f"{(d['location'] or {}).get('line')} {meant}\n    {said}")


def main(argv):
    everything = "--all" in argv
    words = [word for word in argv if not word.startswith("-")]
    found = results([p for p in programs() if not words or any(w in p.label for w in words)])
    for program, d in found:
        if everything or isinstance(d, str) or judge(program, d):
            print(complaint(program, d))
    print(table(score(found)))


if __name__ == "__main__":
    main(sys.argv[1:])
