"""`belljar check` and POST /v1/checks: syntax, types, missing imports and risks, without running the code."""

import base64
import json
import os
import subprocess

import pytest

import harness
from service import Service

# language: its tool, a program that prints EXECUTED if it is run, and one with an error of syntax in line 2.
LANGUAGES = {
    "python": ("/usr/bin/python3", "main.py", "print('EXE' + 'CUTED')\n", "import os\nx = (1,\n"),
    "javascript": ("/usr/bin/node", "main.js", "console.log('EXE' + 'CUTED');\n", "let a = 1;\nlet x = ;\n"),
    "bash": ("/bin/bash", "main.sh", "echo EXE''CUTED\n", "echo a\nfi\n"),
    "zsh": ("/usr/bin/zsh", "main.zsh", "echo EXE''CUTED\n", "echo a\nfi\n"),
    "typescript": ("/usr/bin/tsc", "main.ts", "console.log('EXE' + 'CUTED' as string);\n", "let a = 1;\nlet x: = ;\n"),
    "ruby": ("/usr/bin/ruby", "main.rb", "puts 'EXE' + 'CUTED'\n", "puts 1\nx = )\n"),
    "c": ("/usr/bin/gcc", "main.c", '#include <stdio.h>\nint main(void) { puts("EXE" "CUTED"); }\n',
          "int a;\nint f( {\n"),
    "cpp": ("/usr/bin/g++", "main.cpp", '#include <cstdio>\nint main() { std::puts("EXE" "CUTED"); }\n',
            "int a;\nint f( {\n"),
    "go": ("/usr/bin/go", "main.go", 'package main\nfunc main() { println("EXE" + "CUTED") }\n',
           "package main\nfunc main( {\n"),
    "rust": ("/usr/bin/rustc", "main.rs", 'fn main() { println!("{}{}", "EXE", "CUTED"); }\n', "fn a() {}\nfn x( {\n"),
    "java": ("/usr/bin/javac", "Main.java", 'class Main { public static void main(String[] a) '
             '{ System.out.println("EXE" + "CUTED"); } }\n', "class Main {\n  int x = ;\n}\n"),
    "php": ("/usr/bin/php", "main.php", "<?php\necho 'EXE' . 'CUTED';\n", "<?php\n$x = ;\n"),
    "perl": ("/usr/bin/perl", "main.pl", "print 'EXE' . 'CUTED';\n", "print 1;\nmy $x = ;\n"),
    "lua": ("/usr/bin/lua", "main.lua", "print('EXE' .. 'CUTED')\n", "print(1)\nlocal x = = 2\n"),
    "r": ("/usr/bin/Rscript", "main.R", "print(paste0('EXE', 'CUTED'))\n", "x <- 1\ny <- )\n"),
}
PRESENT = {name: row for name, row in LANGUAGES.items() if os.path.exists(row[0])}


def belljar(*argv, cwd=None, stdin=None):
    return subprocess.run([harness.BELLJAR, "check", *map(str, argv)], cwd=cwd, input=stdin or "", capture_output=True,
                          text=True, timeout=120 * harness.PATIENCE, check=False)


@pytest.fixture(scope="module")
def service():
    with Service() as s:
        yield s


def by_language(result):
    return {entry["language"]: entry for entry in result["checks"]["languages"]}


def test_each_language_is_parsed_and_not_run(service):
    good = service.post("/v1/checks", {"files": {row[1]: row[2] for row in PRESENT.values()}}).json
    assert "EXECUTED" not in good["stdout"] + good["stderr"], good["stdout"]
    found = by_language(good)
    for name in PRESENT:
        assert found[name]["syntax"]["state"] == "ok" and found[name]["syntax"]["tool"], found[name]
        assert found[name]["syntax"]["problems"] == [], found[name]
        assert found[name]["imports"]["state"] in ("ok", "none"), found[name]
    assert good["outcome"] == "passed" and good["checks"]["complete"] and good["checks"]["source"] == "guest"
    bad = service.post("/v1/checks", {"files": {row[1]: row[3] for row in PRESENT.values()}}).json
    found = by_language(bad)
    for name, row in PRESENT.items():
        problem, = found[name]["syntax"]["problems"][:1]
        assert found[name]["syntax"]["state"] == "failed", found[name]
        assert (problem["file"], problem["line"]) == (row[1], 2), problem
        assert problem["diagnosis"]["category"] == "syntax" and problem["message"], problem
    assert bad["outcome"] == "failed" and bad["verdict"] == "ok"
    # The history has the answer, and the request can be sent again.
    kept = service.get(f"/v1/runs/{bad['id']}").json
    assert kept["checks"] == bad["checks"] and kept["outcome"] == "failed"
    again = service.get(f"/v1/runs/{bad['id']}/request").json["request"]
    assert service.post("/v1/runs", again).json["outcome"] == "failed"


def test_files_of_the_project_do_not_replace_modules_of_the_checker(service):
    loud = "print('EXE' + 'CUTED')\n"
    files = {"main.py": "import ast, helper\n", "helper.py": loud, "ast.py": loud, "traceback.py": loud,
             "sitecustomize.py": loud, "importlib/__init__.py": loud, "pkg/__init__.py": loud,
             "pkg/one.py": "import pkg.two\n", "pkg/two.py": loud}
    result = service.post("/v1/checks", {"files": files}).json
    assert result["outcome"] == "passed" and "EXECUTED" not in result["stdout"] + result["stderr"], result


PROCESSOR = """import java.util.Set;
import javax.annotation.processing.*;
import javax.lang.model.element.TypeElement;

@SupportedAnnotationTypes("*")
public class Loud extends AbstractProcessor {
  public boolean process(Set<? extends TypeElement> types, RoundEnvironment round) {
    throw new IllegalStateException("EXE" + "CUTED");
  }
}
"""


@pytest.mark.skipif("java" not in PRESENT, reason="javac is not installed")
def test_annotation_processors_of_the_project_are_not_run(service, tmp_path):
    (tmp_path / "Loud.java").write_text(PROCESSOR)
    subprocess.run(["/usr/bin/javac", "-proc:none", "Loud.java"], cwd=tmp_path, check=True, timeout=120)
    loud = base64.b64encode((tmp_path / "Loud.class").read_bytes()).decode()
    files = [{"name": "Main.java", "content": "@Deprecated class Main { }\n"},
             {"name": "Loud.class", "content": loud, "encoding": "base64"},
             {"name": "META-INF/services/javax.annotation.processing.Processor", "content": "Loud\n"}]
    result = service.post("/v1/checks", {"files": files}).json
    assert result["outcome"] == "passed" and "EXECUTED" not in result["stdout"], result


PYTHON_IMPORTS = """import os, no_such_module
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import only_for_types
try:
    import no_such_speedup
except ImportError:
    no_such_speedup = None


def late():
    from no_such_package.part import thing
    return thing


os.system("ls")
"""
NODE_IMPORTS = """const fs = require('node:fs');
const a = require('no-such-package');
import('./missing.js').then(() => fs);
try { require('no-such-speedup'); } catch { a(); }
// require('no-such-comment')
const text = "require('no-such-text')";
eval(text);
"""


def test_missing_imports_and_risks_are_told_by_line(service):
    result = service.post("/v1/checks", {"language": "python", "code": PYTHON_IMPORTS}).json
    imports = by_language(result)["python"]["imports"]
    assert imports["state"] == "failed" and result["outcome"] == "failed"
    assert [(p["name"], p["line"], p["type"]) for p in imports["problems"]] == [
        ("no_such_module", 1, "ModuleNotFoundError"), ("no_such_package.part", 12, "ModuleNotFoundError")]
    risk, = result["checks"]["risks"]
    assert (risk["file"], risk["line"], risk["kind"]) == ("main.py", 16, "process") and "shell command" in risk["why"]
    module = "import y from './y.mjs';\nimport 'no-such-module';\n"
    files = {"main.js": NODE_IMPORTS, "lib/x.mjs": module, "lib/y.mjs": ""}
    result = service.post("/v1/checks", {"files": files}).json
    problems = by_language(result)["javascript"]["imports"]["problems"]
    assert sorted((p["file"], p["line"], p["name"]) for p in problems) == [
        ("lib/x.mjs", 2, "no-such-module"), ("main.js", 2, "no-such-package"), ("main.js", 3, "./missing.js")], problems
    risk, = [r for r in result["checks"]["risks"] if r["kind"] == "dynamic_code"]
    assert (risk["file"], risk["line"]) == ("main.js", 7)


# A program with one error of types or one missing import: the question, the line, and a piece of the message.
COMPILED = {
    "main.ts": ("typescript", "types", 2, "not assignable", "let a = 1;\nlet x: number = 'text' + a;\n"),
    "main.c": ("c", "imports", 2, "no.h", '\n#include "no.h"\nint main(void) { return 0; }\n'),
    "main.cpp": ("cpp", "types", 1, "invalid conversion", 'int main() { int x = "text"; return x; }\n'),
    "main.go": ("go", "types", 2, "string", 'package main\nfunc main() { var x int = "text"; println(x) }\n'),
    "main.rs": ("rust", "types", 1, "mismatched", 'fn main() { let _x: i32 = "text"; }\n'),
    "Main.java": ("java", "imports", 1, "no.such", "import no.such.Thing;\nclass Main { }\n"),
    "main.rb": ("ruby", "imports", 1, "no_such_gem", 'require "no_such_gem"\nrequire "json"\nbegin\n'
                '  require "no_such_speedup"\nrescue LoadError\nend\n'),
    "main.pl": ("perl", "imports", 1, "No/Such/Module.pm", "use No::Such::Module;\n"),
    "main.php": ("php", "imports", 2, "gone.php", "<?php\nrequire __DIR__ . '/gone.php';\n// require 'comment.php';\n"),
    "main.lua": ("lua", "imports", 2, "no.such", '-- require("comment")\nlocal a = require("no.such")\n'),
}


def test_compilers_tell_types_and_imports_apart(service):
    files = {name: row for name, row in COMPILED.items() if row[0] in PRESENT}
    result = service.post("/v1/checks", {"files": {name: row[4] for name, row in files.items()}}).json
    found = by_language(result)
    for name, (language, question, line, piece, _) in files.items():
        answers = found[language]
        assert answers["syntax"]["state"] == "ok" and answers[question]["state"] == "failed", answers
        problem, = answers[question]["problems"]
        assert (problem["file"], problem["line"]) == (name, line) and piece in problem["message"], problem
        assert problem["diagnosis"], problem


def test_types_of_python_need_mypy_and_run_no_plugin(service):
    loud = "print('EXE' + 'CUTED')\ndef plugin(version):\n    raise SystemExit(1)\n"
    files = {"main.py": "def f(a: int) -> str:\n    return a\n", "mypy.ini": "[mypy]\nplugins = ./loud.py\n",
             "loud.py": loud}
    result = service.post("/v1/checks", {"files": files}).json
    types = by_language(result)["python"]["types"]
    if not os.path.exists("/usr/bin/mypy"):
        assert types["state"] == "not_installed" and types["install"] == "apt-get install mypy", types
        assert types["tool"] == "mypy" and result["outcome"] == "passed"
        return
    problem, = types["problems"]
    assert (types["state"], problem["line"], problem["type"]) == ("failed", 2, "mypy return-value"), types
    assert problem["diagnosis"]["suggestions"] and "EXECUTED" not in result["stdout"]
    result = service.post("/v1/checks", {"language": "python", "code": "def f(:\n"}).json
    assert by_language(result)["python"]["types"]["state"] == "skipped"


def test_code_with_a_nul_has_an_answer(service):
    content = base64.b64encode(b"eval 'a\0b'\n").decode()
    files = [{"name": "main.sh", "content": content, "encoding": "base64"}]
    result = service.post("/v1/checks", {"files": files}).json
    assert result["checks"]["complete"] and "dynamic_code" in [r["kind"] for r in result["checks"]["risks"]]


@pytest.mark.parametrize("name", ["-dumpversion.c", "@lib/a.c"])
def test_no_name_of_a_file_is_an_option_of_a_tool(service, name, tmp_path):
    """Compilers read options from the file behind an @. An option can load a plugin, which is code of the project."""
    good, wrong = "int main(void) { return 0; }\n", "int main(void) { return 0 }\n"
    passed = service.post("/v1/checks", {"files": {name: good, "lib/a.c": "int x;\n"}}).json
    assert passed["outcome"] == "passed", passed["checks"]
    failed = service.post("/v1/checks", {"files": {name: wrong, "lib/a.c": "int x;\n"}}).json
    assert failed["outcome"] == "failed", failed["checks"]
    refused = service.post("/v1/checks", {"files": {"src/@b.c": good, "b.c": "-fplugin=./x.so"}})
    assert refused.status == 400 and "'src/@b.c'" in refused.error["message"], refused
    (tmp_path / "@b.c").write_text(good)
    done = belljar("--local", cwd=tmp_path)
    assert done.returncode != 0 and "'@b.c'" in done.stderr and "give it another name" in done.stderr, done


def test_a_language_without_a_parser_is_named(service):
    result = service.post("/v1/checks", {"files": {"a.sql": "select 1;", "main.py": "x = 1\n"}}).json
    assert result["outcome"] == "unknown" and by_language(result)["sqlite"]["syntax"]["state"] == "none"
    assert by_language(result)["python"]["syntax"]["state"] == "ok"


@pytest.mark.parametrize("body, field, message", [
    ({}, "code", "there is no code to check"),
    ({"files": {"notes.txt": "hello"}}, "files", "there is no code to check"),
    ({"code": "x = 1", "language": "klingon"}, "language", "klingon"),
    ({"files": {"main.py": "", ".belljar-check.sh": "true"}}, "files", "is taken by the service"),
    ({"code": "x = 1", "language": "python", "files": {"main.py": ""}}, "files", "is taken by the service"),
    ({"files": {f"m{i}.py": "" for i in range(501)}}, "files", "up to 500 files"),
])
def test_a_wrong_check_names_its_field(service, body, field, message):
    error = service.post("/v1/checks", body).error
    assert error["field"] == field and message in error["message"], error


def test_the_check_command_tells_people_and_scripts(tmp_path):
    (tmp_path / "good.py").write_text("import os\nos.remove('x')\n")
    (tmp_path / "bad.sh").write_text("if true\n")
    (tmp_path / "notes.txt").write_text("print('hello'\n")
    done = belljar("--local", tmp_path / "good.py")
    assert done.returncode == 0 and "syntax   ok (python3)" in done.stdout, done
    assert "good.py:2:1  deletes a file: os.remove('x')" in done.stdout
    done = belljar("--local", "--json", cwd=tmp_path)
    result = json.loads(done.stdout)
    assert done.returncode == 1 and result["outcome"] == "failed", result
    assert by_language(result)["bash"]["syntax"]["problems"][0]["file"] == "bad.sh"
    done = belljar("--local", "--language", "python", tmp_path / "notes.txt")
    assert done.returncode == 1 and "'(' was never closed" in done.stdout and "main.py:1" in done.stdout
    (tmp_path / "q.sql").write_text("select 1;\n")
    done = belljar("--local", tmp_path / "q.sql")
    assert done.returncode == 125 and "the syntax of sqlite was not checked" in done.stderr
    assert "syntax   not checked: no tool for it is known" in done.stdout


@pytest.mark.parametrize("argv, status, message", [
    (["nothing.py"], 125, "'nothing.py'"),
    (["notes.txt"], 64, "give it with --language"),
    (["a.py", "sub/a.py"], 64, "would both be 'a.py'"),
    (["a.py", "sub"], 64, "'sub' is not a file"),
    (["empty"], 125, "has no file in a language"),
    (["--language", "klingon", "a.py"], 64, "klingon"),
    (["--quick", "a.py"], 64, "--quick"),
])
def test_a_wrong_check_command_is_one_sentence(tmp_path, argv, status, message):
    for name in ("a.py", "notes.txt", "sub/a.py", "empty/data.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x\n")
    done = belljar("--local", *argv, cwd=tmp_path)
    assert done.returncode == status and message in done.stderr and done.stderr.count("\n") == 1, done


def test_a_check_that_a_limit_ends_is_no_success(tmp_path):
    (tmp_path / "a.py").write_text("x = 1\n")
    done = belljar("--local", "--json", "--output", "64", tmp_path / "a.py")
    result = json.loads(done.stdout)
    assert done.returncode not in (0, 1) and result["outcome"] == "stopped", result


def test_the_check_command_asks_a_service_too(service, tmp_path):
    (tmp_path / "main.py").write_text("import no_such_module\n")
    done = subprocess.run([harness.BELLJAR, "check", "--json", str(tmp_path)], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=120, check=False,
                          env=service.environ | {"BELLJAR_STATE": str(service.state)})
    result = json.loads(done.stdout)
    assert done.returncode == 1 and "queued_at" in result["timings"]
    assert by_language(result)["python"]["imports"]["problems"][0]["name"] == "no_such_module"
