"""Every language's small programs: one for each thing that a language must be able to do (test_language_matrix.py).

A cell is a program and its expected result. `None`: the language has no such thing.
"""

from dataclasses import dataclass, field

COLUMNS = ("hello", "stdin", "args", "exit code", "runtime error", "syntax error", "timeout", "memory limit",
           "two files")


@dataclass
class Cell:
    code: str
    verdict: tuple = ("ok",)
    out: str | None = None  # the whole of stdout
    has: tuple = ()  # all of these are in stdout or stderr
    exit_code: int | None = None
    stdin: str | None = None
    args: tuple = ()
    files: dict = field(default_factory=dict)
    limits: dict = field(default_factory=dict)


def hello(code):
    return Cell(code, out="hello, world\n")


def echo(code):
    return Cell(code, out="one\ntwo\n", stdin="one\ntwo\n")


def args(code):
    return Cell(code, out="a|two words|-x|ü\n", args=("a", "two words", "-x", "ü"))


def exit_code(code):
    return Cell(code, verdict=("runtime_error",), exit_code=7)


def fails(code, *words, out=None):
    return Cell(code, verdict=("runtime_error",), has=words, out=out)


def refused(code, *words, verdict=("runtime_error",)):
    return Cell(code, verdict=verdict, has=words)


def compile_error(code, *words):
    return Cell(code, verdict=("compile_error",), has=words)


def hangs(code, wall_ms=2000):
    """Output from before the deadline is kept. The time is enough for the interpreter to start on a busy machine."""
    return Cell(code, verdict=("timeout",), exit_code=124, has=("before",), limits={"wall_ms": wall_ms})


def eats(code, memory="96m", verdict=("memory_limit",), has=()):
    return Cell(code, verdict=verdict, has=has, limits={"memory": memory})


def two_files(code, **files):
    return Cell(code, out="42\n", files={name.replace("__", "."): text for name, text in files.items()})


PROGRAMS = {
    "python": {
        "hello": hello("print('hello, world')\n"),
        "stdin": echo("import sys\nfor line in sys.stdin: print(line, end='')\n"),
        "args": args("import sys\nprint('|'.join(sys.argv[1:]))\n"),
        "exit code": exit_code("raise SystemExit(7)\n"),
        "runtime error": fails("def f():\n    return 1 / 0\nf()\n", "ZeroDivisionError", "line 2"),
        "syntax error": refused("print('x'\n", "SyntaxError"),
        "timeout": hangs("print('before')\nwhile True: pass\n"),
        "memory limit": eats("x = bytearray(1 << 30)\nx[::4096] = b'x' * len(x[::4096])\nprint('alive')\n"),
        "two files": two_files("import helper\nprint(helper.VALUE + 1)\n", helper__py="VALUE = 41\n"),
    },
    "javascript": {
        "hello": hello("console.log('hello, world')\n"),
        "stdin": echo("process.stdin.pipe(process.stdout)\n"),
        "args": args("console.log(process.argv.slice(2).join('|'))\n"),
        "exit code": exit_code("process.exit(7)\n"),
        "runtime error": fails("function f() { return nothing.here }\nf()\n", "ReferenceError", "main.js:1"),
        "syntax error": refused("console.log('x'\n", "SyntaxError"),
        "timeout": hangs("console.log('before')\nsetInterval(() => {}, 10)\n"),
        "memory limit": eats("const all = []\nfor (;;) all.push(Buffer.alloc(1 << 20, 1))\n"),
        "two files": two_files("console.log(require('./helper') + 1)\n", helper__js="module.exports = 41\n"),
    },
    "typescript": {
        "hello": hello("const s: string = 'hello, world'\nconsole.log(s)\n"),
        "stdin": echo("process.stdin.pipe(process.stdout)\n"),
        "args": args("const a: string[] = process.argv.slice(2)\nconsole.log(a.join('|'))\n"),
        "exit code": exit_code("const n: number = 7\nprocess.exit(n)\n"),
        "runtime error": fails("function f(x: any): number {\n  return x.y.z\n}\nf({})\n", "TypeError", "main.ts:2"),
        "syntax error": refused("const x: = 1\n", "main.ts", verdict=("runtime_error", "compile_error")),
        "timeout": hangs("console.log('before')\nsetInterval((): void => {}, 10)\n", 5000),
        "memory limit": eats("const all: Buffer[] = []\nfor (;;) all.push(Buffer.alloc(1 << 20, 1))\n", memory="160m"),
        "two files": two_files("import { value } from './helper'\nconsole.log(value + 1)\n",
                               helper__ts="export const value: number = 41\n"),
    },
    "bash": {
        "hello": hello("echo hello, world\n"),
        "stdin": echo("cat\n"),
        "args": args("IFS='|'; echo \"$*\"\n"),
        "exit code": exit_code("exit 7\n"),
        "runtime error": fails("set -u\necho $nothing_here\n", "line 2: nothing_here: unbound variable"),
        "syntax error": refused("if true; then echo x\n", "syntax error"),
        "timeout": hangs("echo before\nwhile :; do :; done\n"),
        "memory limit": eats("x=x\nwhile :; do x=$x$x; done\n"),
        "two files": two_files(". ./helper.sh\necho $((value + 1))\n", helper__sh="value=41\n"),
    },
    "zsh": {
        "hello": hello("print hello, world\n"),
        "stdin": echo("cat\n"),
        "args": args("print -r -- ${(j:|:)@}\n"),
        "exit code": exit_code("exit 7\n"),
        "runtime error": fails("setopt no_unset\nprint $nothing_here\n", "nothing_here: parameter not set"),
        "syntax error": refused("if true; then print x\n", "parse error"),
        "timeout": hangs("print before\nwhile :; do :; done\n"),
        "memory limit": eats("x=x\nwhile :; do x=$x$x; done\n"),
        "two files": two_files(". ./helper.zsh\nprint $((value + 1))\n", helper__zsh="value=41\n"),
    },
    "ruby": {
        "hello": hello("puts 'hello, world'\n"),
        "stdin": echo("STDIN.each_line { |line| print line }\n"),
        "args": args("puts ARGV.join('|')\n"),
        "exit code": exit_code("exit 7\n"),
        "runtime error": fails("def f\n  nil.length\nend\nf\n", "NoMethodError", "main.rb:2"),
        "syntax error": refused("def f\n", "syntax error"),
        "timeout": hangs("print 'before'\nloop {}\n"),
        "memory limit": eats("all = []\nloop { all << 'x' * (1 << 20) }\n"),
        "two files": two_files("require_relative 'helper'\nputs VALUE + 1\n", helper__rb="VALUE = 41\n"),
    },
    "go": {
        "hello": hello('package main\n\nimport "fmt"\n\nfunc main() { fmt.Println("hello, world") }\n'),
        "stdin": echo('package main\n\nimport (\n\t"io"\n\t"os"\n)\n\nfunc main() { io.Copy(os.Stdout, os.Stdin) }\n'),
        "args": args('package main\n\nimport (\n\t"fmt"\n\t"os"\n\t"strings"\n)\n\n'
                     'func main() { fmt.Println(strings.Join(os.Args[1:], "|")) }\n'),
        "exit code": exit_code('package main\n\nimport "os"\n\nfunc main() { os.Exit(7) }\n'),
        "runtime error": fails("""\
package main

func main() {
\tvar a []int
\tprintln(a[3])
}
""", "index out of range", "main.go:5"),
        "syntax error": compile_error("package main\n\nfunc main() {\n", "main.go:"),
        "timeout": hangs('package main\n\nimport "fmt"\n\nfunc main() {\n\tfmt.Println("before")\n\tfor {\n\t}\n}\n'),
        "memory limit": eats("""\
package main

func main() {
\tvar all [][]byte
\tfor {
\t\tb := make([]byte, 1<<20)
\t\tfor i := range b {
\t\t\tb[i] = 1
\t\t}
\t\tall = append(all, b)
\t}
}
"""),
        "two files": two_files('package main\n\nimport "fmt"\n\nfunc main() { fmt.Println(value() + 1) }\n',
                               helper__go="package main\n\nfunc value() int { return 41 }\n"),
    },
    "c": {
        "hello": hello('#include <stdio.h>\nint main(void) { puts("hello, world"); }\n'),
        "stdin": echo("#include <stdio.h>\nint main(void) { for (int c; (c = getchar()) != EOF;) putchar(c); }\n"),
        "args": args('#include <stdio.h>\nint main(int n, char **a) { for (int i = 1; i < n; i++) '
                     'printf("%s%s", i > 1 ? "|" : "", a[i]); putchar(10); }\n'),
        "exit code": exit_code("int main(void) { return 7; }\n"),
        "runtime error": Cell("""\
#include <stdlib.h>
int main(void) { abort(); }
""", verdict=("runtime_error",), exit_code=134),
        "syntax error": compile_error("int main(void) { return 0 }\n", "main.c:1"),
        "timeout": hangs("""\
#include <stdio.h>
int main(void) { printf("before"); fflush(stdout); for (volatile int i = 0;; i++); }
"""),
        "memory limit": eats("""\
#include <stdlib.h>
#include <string.h>
int main(void) {
  for (;;) {
    char *p = malloc(1 << 20);
    if (!p) return 1;
    memset(p, 1, 1 << 20);
    *(volatile char *)p = 2;
  }
}
"""),
        "two files": two_files("""\
#include <stdio.h>
int value(void);
int main(void) { printf("%d\\n", value() + 1); }
""",
                               helper__c="int value(void) { return 41; }\n"),
    },
    "cpp": {
        "hello": hello('#include <iostream>\nint main() { std::cout << "hello, world\\n"; }\n'),
        "stdin": echo("#include <iostream>\nint main() { std::cout << std::cin.rdbuf(); }\n"),
        "args": args('#include <iostream>\nint main(int n, char **a) { for (int i = 1; i < n; i++) '
                     'std::cout << (i > 1 ? "|" : "") << a[i]; std::cout << "\\n"; }\n'),
        "exit code": exit_code("int main() { return 7; }\n"),
        "runtime error": fails("""\
#include <vector>
int main() { std::vector<int> v; return v.at(3); }
""", "out_of_range"),
        "syntax error": compile_error("int main() { return 0 }\n", "main.cpp:1"),
        "timeout": hangs("""\
#include <iostream>
int main() { std::cout << "before" << std::flush; for (volatile int i = 0;; i = i + 1); }
"""),
        "memory limit": eats("#include <string>\n#include <vector>\nint main() { std::vector<std::string> all; "
                             "for (;;) all.emplace_back(1 << 20, 'x'); }\n"),
        "two files": two_files('#include <iostream>\nint value();\nint main() { std::cout << value() + 1 << "\\n"; }\n',
                               helper__cpp="int value() { return 41; }\n"),
    },
    "rust": {
        "hello": hello('fn main() { println!("hello, world"); }\n'),
        "stdin": echo("fn main() { std::io::copy(&mut std::io::stdin(), &mut std::io::stdout()).unwrap(); }\n"),
        "args": args('fn main() { let a: Vec<String> = std::env::args().skip(1).collect(); println!("{}", '
                     'a.join("|")); }\n'),
        "exit code": exit_code("fn main() { std::process::exit(7); }\n"),
        "runtime error": fails("""\
fn main() {
    let v: Vec<i32> = vec![];
    let i = v.len() + 3;
    println!("{}", v[i]);
}
""",
                               "index out of bounds", "main.rs:4"),
        "syntax error": compile_error("fn main() { let x = ; }\n", "main.rs:1"),
        "timeout": hangs('fn main() { println!("before"); loop { std::hint::spin_loop() } }\n'),
        "memory limit": eats("fn main() { let mut all = Vec::new(); loop { all.push(vec![1u8; 1 << 20]); } }\n"),
        "two files": two_files('mod helper;\nfn main() { println!("{}", helper::value() + 1); }\n',
                               helper__rs="pub fn value() -> i32 { 41 }\n"),
    },
    "java": {
        "hello": hello('public class Main { public static void main(String[] a) { System.out.println("hello, world"); '
                       '} }\n'),
        "stdin": echo("public class Main { public static void main(String[] a) throws Exception { "
                      "System.in.transferTo(System.out); } }\n"),
        "args": args('public class Main { public static void main(String[] a) { System.out.println(String.join("|", '
                     'a)); } }\n'),
        "exit code": exit_code("public class Main { public static void main(String[] a) { System.exit(7); } }\n"),
        "runtime error": fails("""\
public class Main {
    public static void main(String[] a) {
        int[] x = new int[1];
        x[3] = 1;
    }
}
""", "ArrayIndexOutOfBoundsException", "Main.java:4"),
        "syntax error": compile_error("public class Main { public static void main(String[] a) { int x = ; } }\n",
                                      "Main.java:1"),
        "timeout": hangs('public class Main { public static void main(String[] a) { System.out.println("before"); for '
                         '(;;); } }\n', 5000),
        # the virtual machine's own limit is a little below the jar's, and its message tells more
        "memory limit": eats("import java.util.*;\npublic class Main { public static void main(String[] a) { "
                             "List<byte[]> all = new ArrayList<>(); for (;;) all.add(new byte[1 << 20]); } }\n",
                             memory="160m", verdict=("runtime_error", "memory_limit")),
        "two files": two_files("public class Main { public static void main(String[] a) { "
                               "System.out.println(Helper.value() + 1); } }\n",
                               Helper__java="class Helper { static int value() { return 41; } }\n"),
    },
    "php": {
        "hello": hello("<?php\necho \"hello, world\\n\";\n"),
        "stdin": echo("<?php\nwhile (($line = fgets(STDIN)) !== false) echo $line;\n"),
        "args": args("<?php\necho implode('|', array_slice($argv, 1)), \"\\n\";\n"),
        "exit code": exit_code("<?php\nexit(7);\n"),
        "runtime error": fails("""\
<?php
function f() {
    return intdiv(1, 0);
}
f();
""", "DivisionByZeroError", "main.php:3", out=""),
        "syntax error": refused("<?php\nif (true {\n", "PHP Parse error"),
        "timeout": hangs("<?php\necho 'before';\nwhile (true);\n"),
        "memory limit": eats("<?php\n$all = [];\nwhile (true) $all[] = str_repeat('x', 1 << 20);\n"),
        "two files": two_files("""\
<?php
require 'helper.php';
echo VALUE + 1, "\\n";
""", helper__php="""\
<?php
const VALUE = 41;
"""),
    },
    "perl": {
        "hello": hello('print "hello, world\\n";\n'),
        "stdin": echo("print while <STDIN>;\n"),
        "args": args('print join("|", @ARGV), "\\n";\n'),
        "exit code": exit_code("exit 7;\n"),
        "runtime error": fails("""\
use strict;
my $x = 0;
print 1 / $x;
""", "Illegal division by zero", "main.pl line 3"),
        "syntax error": refused("if (1 {\n", "syntax error"),
        "timeout": hangs('print "before";\n1 while 1;\n'),
        "memory limit": eats("my @all;\nmy $i = 0;\nwhile (1) { push @all, chr(65 + $i++ % 26) x (1 << 20); }\n"),
        "two files": two_files("use lib '.';\nuse Helper;\nprint Helper::value() + 1, \"\\n\";\n",
                               Helper__pm="package Helper;\nsub value { 41 }\n1;\n"),
    },
    "lua": {
        "hello": hello('print("hello, world")\n'),
        "stdin": echo('for line in io.lines() do print(line) end\n'),
        "args": args('print(table.concat(arg, "|"))\n'),
        "exit code": exit_code("os.exit(7)\n"),
        "runtime error": fails("local t = nil\nprint(t.x)\n", "attempt to index a nil value", "main.lua:2"),
        "syntax error": refused("if true then\n", "'end' expected"),
        "timeout": hangs('io.write("before")\nwhile true do end\n'),
        "memory limit": eats('local all = {}\nwhile true do all[#all + 1] = string.rep(tostring(#all), 1 << 20) end\n',
                             verdict=("memory_limit", "runtime_error")),
        "two files": two_files("""\
local helper = require("helper")
print(helper.value + 1)
""", helper__lua="return { value = 41 }\n"),
    },
    "r": {
        "hello": hello('cat("hello, world\\n")\n'),
        "stdin": echo('writeLines(readLines(file("stdin")))\n'),
        "args": args('cat(paste(commandArgs(trailingOnly = TRUE), collapse = "|"), "\\n", sep = "")\n'),
        "exit code": exit_code("quit(status = 7)\n"),
        "runtime error": fails('f <- function(x) stop("it is bad")\nf(1)\n', "it is bad"),
        "syntax error": refused("x <- (1 + \n", "unexpected end of input"),
        "timeout": hangs('cat("before")\nrepeat {}\n', 5000),
        "memory limit": eats("all <- list()\nrepeat all[[length(all) + 1]] <- runif(1e6)\n", memory="160m"),
        "two files": two_files('source("helper.R")\ncat(value + 1, "\\n", sep = "")\n', helper__R="value <- 41\n"),
    },
    "sqlite": {
        "hello": Cell("SELECT 'hello, world' AS x;\n", has=("hello, world",)),
        "stdin": None,
        "args": None,
        "exit code": None,
        "runtime error": fails("""\
CREATE TABLE t (a INTEGER NOT NULL);
INSERT INTO t VALUES (NULL);
""", "NOT NULL constraint failed"),
        "syntax error": refused("SELEC 1;\n", "syntax error"),
        "timeout": Cell("WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t;\n",
                        verdict=("timeout",), exit_code=124, limits={"wall_ms": 1500}),
        "memory limit": eats("WITH RECURSIVE t(n, s) AS (SELECT 1, hex(zeroblob(500000)) UNION ALL SELECT n + 1, s || "
                             "n FROM t "
                             "LIMIT 2000) SELECT length(group_concat(s)) FROM t;\n",
                             verdict=("memory_limit", "runtime_error")),
        "two files": Cell("SELECT value + 1 AS x FROM t;\n", has=("42",),
                          files={"fixtures/t.sql": "CREATE TABLE t (value INTEGER);\nINSERT INTO t VALUES (41);\n"}),
    },
    "postgres": {
        "hello": Cell("SELECT 'hello, world'::text AS x;\n", has=("hello, world",)),
        "stdin": None,
        "args": None,
        "exit code": None,
        "runtime error": fails("SELECT 1 / 0;\n", "division by zero"),
        "syntax error": refused("SELEC 1;\n", "syntax error"),
        "timeout": Cell("SELECT pg_sleep(60);\n", verdict=("timeout",), exit_code=124, limits={"wall_ms": 3000}),
        "memory limit": eats("SELECT length(string_agg(repeat('x', 1000000), '')) FROM generate_series(1, 900);\n",
                             memory="160m", verdict=("memory_limit", "runtime_error")),
        "two files": Cell("SELECT value + 1 AS x FROM t;\n", has=("42",),
                          files={"fixtures/t.sql": "CREATE TABLE t (value integer);\nINSERT INTO t VALUES (41);\n"}),
    },
}
