"""Programs in compiled languages, for the tests of compiling: one table, a row a language."""

import os

import pytest

NAMES = {"c": "main.c", "cpp": "main.cpp", "go": "main.go", "rust": "main.rs", "java": "Main.java"}
COMPILERS = {"c": "gcc", "cpp": "g++", "go": "go", "rust": "rustc", "java": "javac"}

HELLO = {
    "c": '#include <stdio.h>\nint main(void) { puts("hello, world"); }\n',
    "cpp": '#include <iostream>\nint main() { std::cout << "hello, world" << std::endl; }\n',
    "go": 'package main\nimport "fmt"\nfunc main() { fmt.Println("hello, world") }\n',
    "rust": 'fn main() { println!("hello, world"); }\n',
    "java": 'public class Main { public static void main(String[] a) { System.out.println("hello, world"); } }\n',
}
ARGS = {
    "c": """\
#include <stdio.h>
int main(int c, char **v) { for (int i = 1; i < c; i++) printf("%s%s", i > 1 ? "|" : "", v[i]); puts(""); }
""",
    "cpp": """\
#include <iostream>
int main(int c, char **v) { for (int i = 1; i < c; i++) std::cout << (i > 1 ? "|" : "") << v[i]; std::cout << "\\n"; }
""",
    "go": """\
package main
import ("fmt"; "os"; "strings")
func main() { fmt.Println(strings.Join(os.Args[1:], "|")) }
""",
    "rust": 'fn main() { println!("{}", std::env::args().skip(1).collect::<Vec<_>>().join("|")); }\n',
    "java": 'class Main { public static void main(String[] a) { System.out.println(String.join("|", a)); } }\n',
}
ECHO = {
    "c": '#include <stdio.h>\nint main(void) { int c; while ((c = getchar()) != EOF) putchar(c); }\n',
    "cpp": '#include <iostream>\nint main() { std::cout << std::cin.rdbuf(); }\n',
    "go": 'package main\nimport ("io"; "os")\nfunc main() { io.Copy(os.Stdout, os.Stdin) }\n',
    "rust": 'fn main() { std::io::copy(&mut std::io::stdin(), &mut std::io::stdout()).unwrap(); }\n',
    "java": 'class Main { public static void main(String[] a) throws Exception { System.in.transferTo(System.out); '
            'System.out.flush(); } }\n',
}
EXIT_7 = {
    "c": "int main(void) { return 7; }\n",
    "cpp": "int main() { return 7; }\n",
    "go": 'package main\nimport "os"\nfunc main() { os.Exit(7) }\n',
    "rust": "fn main() { std::process::exit(7); }\n",
    "java": "class Main { public static void main(String[] a) { System.exit(7); } }\n",
}
# A mistake on line 3, and a word of the compiler's about it.
BROKEN = {
    "c": ("int main(void)\n{\n    return nothing;\n}\n", "main.c:3:"),
    "cpp": ("int main()\n{\n    return nothing;\n}\n", "main.cpp:3:"),
    "go": ("package main\nfunc main() {\n\tnothing()\n}\n", "main.go:3:"),
    "rust": ("fn main()\n{\n    nothing();\n}\n", "main.rs:3:"),
    "java": ("class Main {\n    public static void main(String[] a) {\n        nothing();\n    }\n}\n", "Main.java:3:"),
}
# Ends by a signal, or by a message on stderr, while it runs.
FAILS = {
    "c": ("#include <stdlib.h>\nint main(void) { abort(); }\n", 134, ""),
    "cpp": ('#include <stdexcept>\nint main() { throw std::runtime_error("oops"); }\n', 134, "oops"),
    "go": ("package main\nfunc main() { var m map[string]int; m[\"a\"] = 1 }\n", 2, "main.go:2"),
    "rust": ("fn main() {\n    let v: Vec<i32> = vec![];\n    println!(\"{}\", v[0]);\n}\n", 101, "main.rs:3"),
    "java": ("""\
class Main { public static void main(String[] a) {
    Object o = null; o.toString(); } }
""", 1, "Main.java:2"),
}
# (main file, [(name, text)]): the second file's words come out.
TWO_FILES = {
    "c": ('#include <stdio.h>\n#include "other.h"\nint main(void) { puts(other()); }\n',
          [("other.h", "const char *other(void);\n"), ("other.c", 'const char *other(void) { return "other"; }\n')]),
    "cpp": ('#include <iostream>\nstd::string other();\nint main() { std::cout << other() << "\\n"; }\n',
            [("lib/other.cc", '#include <string>\nstd::string other() { return "other"; }\n')]),
    "go": ('package main\nimport "fmt"\nfunc main() { fmt.Println(other()) }\n',
           [("other.go", 'package main\nfunc other() string { return "other" }\n')]),
    "rust": ('mod other;\nfn main() { println!("{}", other::other()); }\n',
             [("other.rs", 'pub fn other() -> &\'static str { "other" }\n')]),
    "java": ("class Main { public static void main(String[] a) { System.out.println(Other.other()); } }\n",
             [("Other.java", 'class Other { static String other() { return "other"; } }\n')]),
}
LOOP = {
    "c": "int main(void) { for (volatile int i = 0;; i++) ; }\n",
    "cpp": "int main() { for (volatile int i = 0;; i = i + 1) ; }\n",
    "go": "package main\nfunc main() { for { } }\n",
    "rust": "fn main() { loop { std::hint::spin_loop(); } }\n",
    "java": "class Main { public static void main(String[] a) { while (true) ; } }\n",
}
# Doubles itself with every level: takes any compiler longer than it has, or more memory.
BOMB = "template <int N, int M> struct B { static const int v = B<N - 1, 2 * M>::v + B<N - 1, 2 * M + 1>::v; };\n" \
       "template <int M> struct B<0, M> { static const int v = 1; };\nint main() { return B<25, 0>::v; }\n"


def installed(lang):
    return os.access(f"/usr/bin/{COMPILERS[lang]}", os.X_OK)


LANGUAGES = [pytest.param(lang, marks=pytest.mark.skipif(not installed(lang), reason=f"{lang} is not installed"))
             for lang in sorted(NAMES)]
