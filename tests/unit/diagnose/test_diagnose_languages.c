/* The output of each language's tools is read in the forms of several of their versions. */
#include <signal.h>
#include <stdlib.h>

#include "base/array.h"
#include "check.h"
#include "diagnose/core/diagnose.h"

static struct diagnoser *diagnoser(void)
{
    struct diagnoser *g = NULL;
    struct err e;
    return CHECK(diagnoser_new(&g, &e) == 0) ? g : NULL;
}

struct shape {
    const char *grammar, *name, *source; /* the job's file; may be NULL */
    const char *text;
    bool compiling;
    const char *printed;
    /* The expectation; NULL and 0 where any value will do. */
    const char *file;
    uint32_t line, column;
    enum category category;
    const char *type, *message, *advice; /* parts of the message and of the best suggestion */
};

static bool read_shape(struct diagnoser *g, const struct shape *s, size_t len,
                       struct diagnosis *ret)
{
    struct source_file source = { s->name, s->source, s->source ? strlen(s->source) : 0 };
    struct diagnose_input in = {
        .language = s->grammar,
        .grammar = s->grammar,
        .compiling = s->compiling,
        .text = s->text,
        .len = len,
        .printed = s->printed,
        .printed_len = s->printed ? strlen(s->printed) : 0,
        .main_name = s->name,
        .sources = &source,
        .n_sources = s->source != NULL,
        .verdict = VERDICT_RUNTIME_ERROR,
    };
    return diagnose(g, &in, ret);
}

static bool has(const char *text, const char *part)
{
    return !part || strstr(text, part) != NULL;
}

static void check_shape(struct diagnoser *g, const struct shape *s)
{
    struct diagnosis d;
    bool right = read_shape(g, s, strlen(s->text), &d);
    right = right && d.location.line == s->line && d.category == s->category &&
            (!s->file || strcmp(d.location.file, s->file) == 0) &&
            (!s->column || d.location.column == s->column) &&
            (!s->type || strcmp(d.type, s->type) == 0) && has(d.message, s->message) &&
            (!s->advice || (d.n_suggestions > 0 && (has(d.suggestions[0].text, s->advice) ||
                                                    has(d.suggestions[0].replacement, s->advice))));
    if (!CHECK(right))
        printf("  %s: %.60s\n  gave %s:%u:%u %s '%s' '%s' -> '%s' '%s'\n", s->grammar, s->text,
               d.location.file, d.location.line, d.location.column, category_word(d.category),
               d.type, d.message, d.n_suggestions ? d.suggestions[0].text : "",
               d.n_suggestions ? d.suggestions[0].replacement : "");
}

static const struct shape gcc_shapes[] = {
    { "gcc", "main.c", "int main(void) { int x = 1 f(x); }\n",
      "main.c: In function 'main':\nmain.c:1:28: error: expected ',' or ';' before 'f'\n",
      .compiling = true, .line = 1, .category = CATEGORY_SYNTAX,
      .advice = "int main(void) { int x = 1; f(x); }" },
    { "gcc", "main.c", "int main(void) {\n    int x = 1 // one\n    f(x); }\n",
      "main.c: In function 'main':\nmain.c:3:5: error: expected ',' or ';' before 'f'\n",
      .compiling = true, .line = 2, .category = CATEGORY_SYNTAX,
      .advice = "    int x = 1; // one" },
    { "gcc", "main.c", "int main(void) { }\n",
      "cc1: error: cannot load plugin x.so: x.so: cannot open shared object file: No such file or "
      "directory\n",
      .compiling = true, .category = CATEGORY_COMPILE, .message = "cannot load plugin x.so" },
    { "gcc", "main.c", "int main(void) {\n    return totl;\n}\n",
      "main.c: In function 'main':\nmain.c:2:12: error: 'totl' undeclared (first use in this "
      "function); did you mean 'total'?\n    2 |     return totl;\n      |            ^~~~\n      "
      "|            total\n",
      .compiling = true, .file = "main.c", .line = 2, .column = 12, .category = CATEGORY_NAME,
      .type = "", .message = "undeclared", .advice = "return total;" },
    { "gcc", "main.c", "#include <stdio.h>\nint main(void) {\n    int unused;\n}\n",
      "cc1: all warnings being treated as errors\nmain.c:3:9: error: unused variable 'unused' "
      "[-Werror=unused-variable]\n",
      .compiling = true, .file = "main.c", .line = 3, .column = 9, .category = CATEGORY_COMPILE,
      .type = "-Werror=unused-variable", .message = "unused variable" },
    { "gcc", "main.cpp",
      "#include <vector>\n#include <algorithm>\nint main() {\n    sorted(1);\n}\n",
      "In file included from /usr/include/c++/12/algorithm:61,\n                 from "
      "main.cpp:2:\n/usr/include/c++/12/bits/stl_algo.h: In instantiation of 'void std::sort(X, "
      "X)':\nmain.cpp:4:11:   required from here\n/usr/include/c++/12/bits/stl_algo.h:1938:25: "
      "error: no match for 'operator-' (operand types are 'X' and 'X')\n",
      .compiling = true, .file = "main.cpp", .line = 4, .column = 11, .category = CATEGORY_TYPE,
      .message = "no match for" },
    { "gcc", "main.c", "int main(void) {\n    return sqrt(2.0);\n}\n",
      "/usr/bin/ld: /tmp/cc1.o: in function `main':\nmain.c:2: undefined reference to "
      "`sqrt'\ncollect2: error: ld returned 1 exit status\n",
      .compiling = true, .file = "main.c", .line = 2, .category = CATEGORY_COMPILE,
      .type = "undefined reference", .message = "sqrt", .advice = "-lm" },
    { "gcc", "main.c", NULL,
      "/usr/bin/ld: cannot find -lfoo: No such file or directory\ncollect2: error: ld returned 1 "
      "exit status\n",
      .compiling = true, .category = CATEGORY_COMPILE, .message = "-lfoo", .advice = "foo" },
    { "gcc", "main.c", NULL, "gcc: error: unrecognized command-line option '-fwhatever'\n",
      .compiling = true, .category = CATEGORY_COMPILE, .message = "unrecognized",
      .advice = "-fwhatever" },
    { "gcc", "main.c", "a\nb\nc\nd\ne\n",
      "=================================================================\n==7==ERROR: "
      "AddressSanitizer: heap-buffer-overflow on address 0x602000000010 at pc 0x55\nREAD of size 4 "
      "at 0x602000000010 thread T0\n    #0 0x7f11 in memcpy "
      "../../../../src/libsanitizer/sanitizer_common/interceptors.inc:827\n    #1 0x55d1 in sum "
      "/sandbox/main.c:4\n    #2 0x55d2 in main /sandbox/main.c:5:3\n\n0x602 is located 0 "
      "bytes\nallocated by thread T0 here:\n    #0 0x7f in malloc ../x.cpp:1\n",
      .file = "main.c", .line = 4, .category = CATEGORY_INDEX, .type = "heap-buffer-overflow",
      .message = "READ of size 4", .advice = "length" },
    { "gcc", "main.c", NULL,
      "==7==ERROR: LeakSanitizer: detected memory leaks\n\nDirect leak of 3 byte(s)\n    #0 0x7f "
      "in malloc ../../../../src/libsanitizer/asan/asan_malloc_linux.cpp:145\n    #1 0x55 in main "
      "/sandbox/main.c:6\n",
      .line = 6, .category = CATEGORY_RUNTIME, .type = "detected memory leaks" },
    { "gcc", "main.c", NULL, "main.c:5:14: runtime error: division by zero\n", .file = "main.c",
      .line = 5, .column = 14, .category = CATEGORY_VALUE, .type = "UndefinedBehaviorSanitizer",
      .advice = "zero" },
    { "gcc", "main.c", NULL, "program: main.c:5: divide: Assertion `b != 0' failed.\nAborted\n",
      .file = "main.c", .line = 5, .category = CATEGORY_ASSERTION, .type = "SIGABRT",
      .message = "b != 0" },
    { "gcc", "main.cpp", NULL,
      "terminate called after throwing an instance of 'std::out_of_range'\n  what():  "
      "vector::_M_range_check: __n (which is 3) >= this->size() (which is 3)\nAborted (core "
      "dumped)\n",
      .category = CATEGORY_INDEX, .type = "std::out_of_range", .advice = "index is 3" },
    { "gcc", "main.c", NULL, "*** stack smashing detected ***: terminated\nAborted\n",
      .category = CATEGORY_RUNTIME, .type = "SIGABRT", .advice = "-fsanitize=address" },
    { "gcc", "main.c", NULL, "bash: line 1: 12 Segmentation fault      (core dumped) ./program\n",
      .category = CATEGORY_RUNTIME, .type = "SIGSEGV", .advice = "-fsanitize=address" },
};

static void test_gcc_shapes(void)
{
    struct diagnoser *g = diagnoser();
    for (size_t i = 0; g && i < ARRAY_LEN(gcc_shapes); i++)
        check_shape(g, &gcc_shapes[i]);
    diagnoser_free(g);
}

static const struct shape go_shapes[] = {
    { "go", "main.go", "package main\n\nfunc main() {\n\tn := 1\n}\n",
      "# command-line-arguments\n./main.go:4:2: declared and not used: n\n", .compiling = true,
      .file = "main.go", .line = 4, .column = 2, .category = CATEGORY_NAME, .message = "n",
      .advice = "\t_ = 1" },
    { "go", "main.go", NULL, "./main.go:3:8: \"os\" imported and not used\n", .compiling = true,
      .file = "main.go", .line = 3, .category = CATEGORY_IMPORT, .advice = "\"os\"" },
    { "go", "main.go", NULL, "vet: ./main.go:6:2: undefined: fmt.println\n", .compiling = true,
      .file = "main.go", .line = 6, .category = CATEGORY_NAME, .advice = "fmt.Println" },
    { "go", "main.go", NULL,
      "main.go:4:2: package foo/bar is not in GOROOT (/usr/lib/go-1.19/src/foo/bar)\n",
      .compiling = true, .file = "main.go", .line = 4, .category = CATEGORY_IMPORT },
    { "go", "main.go", NULL,
      "runtime.main_main·f: function main is undeclared in the main package\n", .compiling = true,
      .category = CATEGORY_NAME, .advice = "func main" },
    { "go", "main.go", NULL,
      "panic: runtime error: index out of range [5] with length 3\n\ngoroutine 1 "
      "[running]:\nmain.get(...)\n\t/sandbox/main.go:6\nmain.main()\n\t/sandbox/main.go:10 "
      "+0x1d\nexit status 2\n",
      .file = "main.go", .line = 6, .category = CATEGORY_INDEX, .type = "runtime error",
      .advice = "the last is 2" },
    { "go", "main.go", NULL,
      "panic: first [recovered]\n\tpanic: second\n\ngoroutine 6 [running]:\npanic({0x1, "
      "0x2})\n\t/usr/lib/go/src/runtime/panic.go:884 +0x212\nmain.f()\n\t/sandbox/main.go:7 "
      "+0x39\n",
      .file = "main.go", .line = 7, .category = CATEGORY_RUNTIME, .type = "panic",
      .message = "second" },
    { "go", "main.go", NULL,
      "fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [chan "
      "receive]:\nmain.main()\n\t/sandbox/main.go:5 +0x2b\n",
      .file = "main.go", .line = 5, .category = CATEGORY_RUNTIME, .type = "fatal error",
      .advice = "waits for a channel" },
};

static void test_go_shapes(void)
{
    struct diagnoser *g = diagnoser();
    for (size_t i = 0; g && i < ARRAY_LEN(go_shapes); i++)
        check_shape(g, &go_shapes[i]);
    diagnoser_free(g);
}

static const struct shape rust_shapes[] = {
    { "rust", "main.rs",
      "fn main() {\n    let a = String::new();\n    let b = a;\n    println!(\"{}\", a);\n}\n",
      "error[E0382]: borrow of moved value: `a`\n --> main.rs:4:20\n  |\n2 |     let a = "
      "String::new();\n  |         - move occurs because `a` has type `String`, which does not "
      "implement the `Copy` trait\n3 |     let b = a;\n  |             - value moved here\n4 |     "
      "println!(\"{}\", a);\n  |                    ^ value borrowed here after move\n\nerror: "
      "aborting due to previous error\n",
      .compiling = true, .file = "main.rs", .line = 4, .column = 20, .category = CATEGORY_TYPE,
      .type = "E0382", .message = "moved value", .advice = "let b = a.clone();" },
    { "rust", "main.rs", NULL,
      "thread 'main' panicked at main.rs:4:26:\ncalled `Option::unwrap()` on a `None` value\nnote: "
      "run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n",
      .file = "main.rs", .line = 4, .column = 26, .category = CATEGORY_RUNTIME, .type = "panic",
      .message = "None", .advice = "None" },
    { "rust", "main.rs", NULL,
      "thread 'main' panicked at 'assertion failed: `(left == right)`\n  left: `6`,\n right: `7`: "
      "it''s wrong', main.rs:3:5\n",
      .file = "main.rs", .line = 3, .column = 5, .category = CATEGORY_ASSERTION, .type = "panic",
      .message = "right: `7`" },
    { "rust", "main.rs", "a\nb\n",
      "thread 'main' panicked at 'boom', /rustc/90c5/library/core/src/x.rs:5:1\nstack backtrace:\n "
      "  0: rust_begin_unwind\n             at /rustc/90c5/library/std/src/panicking.rs:584:5\n   "
      "1: main::main\n             at ./main.rs:2:18\n",
      .file = "main.rs", .line = 2, .column = 18, .category = CATEGORY_RUNTIME, .message = "boom" },
    { "rust", "main.rs", NULL,
      "\nthread 'main' has overflowed its stack\nfatal runtime error: stack overflow\n",
      .category = CATEGORY_RESOURCE, .type = "stack overflow" },
    { "rust", "main.rs", NULL, "error: linking with `cc` failed: exit status: 1\n",
      .compiling = true, .category = CATEGORY_COMPILE },
};

static void test_rust_shapes(void)
{
    struct diagnoser *g = diagnoser();
    for (size_t i = 0; g && i < ARRAY_LEN(rust_shapes); i++)
        check_shape(g, &rust_shapes[i]);
    diagnoser_free(g);
}

static const struct shape java_shapes[] = {
    { "java", "Main.java", "class Main { void f() { int n = 1 g(n); } }\n",
      "Main.java:1: error: ';' expected\nclass Main { void f() { int n = 1 g(n); } }\n             "
      "                    ^\n1 error\n",
      .compiling = true, .file = "Main.java", .line = 1, .column = 34, .category = CATEGORY_SYNTAX,
      .advice = "int n = 1; g(n); } }" },
    { "java", "Main.java", "class Main {\n    int n = 1 // one\n}\n",
      "Main.java:2: error: ';' expected\n    int n = 1 // one\n             ^\n1 error\n",
      .compiling = true, .file = "Main.java", .line = 2, .category = CATEGORY_SYNTAX,
      .advice = "int n = 1; // one" },
    { "java", "Main.java", "class Main {\n    int n = \"x\"\n}\n",
      "Main.java:2: error: ';' expected\n    int n = \"x\"\n               ^\n1 error\n",
      .compiling = true, .file = "Main.java", .line = 2, .column = 16, .category = CATEGORY_SYNTAX,
      .advice = "int n = \"x\";" },
    { "java", "Main.java", NULL,
      "Exception in thread \"main\" java.lang.NullPointerException: Cannot invoke "
      "\"String.length()\" because \"name\" is null\n\tat "
      "java.base/java.util.Objects.requireNonNull(Objects.java:208)\n\tat Main.main(Main.java:4)\n",
      .file = "Main.java", .line = 4, .category = CATEGORY_RUNTIME,
      .type = "java.lang.NullPointerException", .advice = "`name` is null" },
    { "java", "shop/Cart.java", "package shop;\n\n\n\n\n\n\n\n        return total / n;\n",
      "Exception in thread \"main\" java.lang.ArithmeticException: / by zero\n\tat "
      "shop.Cart.total(Cart.java:9)\n",
      .file = "shop/Cart.java", .line = 9, .category = CATEGORY_VALUE, .advice = "0" },
    { "java", "Main.java", NULL,
      "java.io.IOException: disk is gone\n\tat Main.save(Main.java:7)\n\tat "
      "Main.main(Main.java:3)\n",
      .file = "Main.java", .line = 7, .category = CATEGORY_IO, .type = "java.io.IOException" },
    { "java", "Main.java", NULL,
      "Error: Main method not found in class Main, please define the main method as:\n   public "
      "static void main(String[] args)\n",
      .category = CATEGORY_NAME, .advice = "public static void main" },
};

static void test_java_shapes(void)
{
    struct diagnoser *g = diagnoser();
    struct diagnosis d;
    const struct shape caused = {
        .grammar = "java",
        .name = "Main.java",
        .text = "Exception in thread \"main\" a.B: outer\n\tat Main.load(Main.java:6)\nCaused by: "
                "java.lang.NumberFormatException: For input string: \"many\"\n\tat "
                "java.base/java.lang.Integer.parseInt(Integer.java:668)\n\tat "
                "Main.load(Main.java:4)\n\t... 1 more\n"
    };
    for (size_t i = 0; g && i < ARRAY_LEN(java_shapes); i++)
        check_shape(g, &java_shapes[i]);
    if (g && CHECK(read_shape(g, &caused, strlen(caused.text), &d))) {
        CHECK_INT(d.location.line, 6);
        CHECK_INT(d.n_causes, 1);
        CHECK_STR(d.causes[0].type, "java.lang.NumberFormatException");
        CHECK_INT(d.causes[0].at.line, 4);
    }
    diagnoser_free(g);
}

static const struct shape script_shapes[] = {
    { "ruby", "main.rb", "a\nputs totl\n",
      "main.rb:2:in `<main>': undefined local variable or method `totl' for main:Object "
      "(NameError)\n\nputs totl\n     ^^^^\nDid you mean?  total\n",
      .file = "main.rb", .line = 2, .column = 6, .category = CATEGORY_NAME, .type = "NameError",
      .advice = "puts total" },
    { "ruby", "main.rb", NULL,
      "main.rb:6:in 'Object#find': undefined method 'name' for nil (NoMethodError)\n\tfrom "
      "main.rb:9:in '<main>'\n",
      .file = "main.rb", .line = 6, .category = CATEGORY_RUNTIME, .type = "NoMethodError",
      .advice = "&.name" },
    { "ruby", "main.rb", NULL,
      "main.rb: main.rb:3: syntax errors found (SyntaxError)\n> 3 | x = (\n    |      ^ expected a "
      "`)`\n",
      .category = CATEGORY_SYNTAX, .line = 3, .type = "SyntaxError" },
    { "ruby", "main.rb", NULL,
      "<internal:/usr/lib/ruby/rubygems/kernel_require.rb>:85:in `require': cannot load such file "
      "-- nokogiri (LoadError)\n\tfrom <internal:/usr/lib/ruby/x.rb>:85:in `require'\n\tfrom "
      "main.rb:1:in `<main>'\n",
      .file = "main.rb", .line = 1, .category = CATEGORY_IMPORT, .type = "LoadError",
      .advice = "nokogiri" },
    { "php", "main.php", NULL,
      "PHP Fatal error:  Uncaught DivisionByZeroError: Division by zero in "
      "/sandbox/main.php:3\nStack trace:\n#0 /sandbox/main.php(5): average()\n#1 {main}\n  thrown "
      "in /sandbox/main.php on line 3\n",
      .file = "main.php", .line = 3, .category = CATEGORY_VALUE, .type = "DivisionByZeroError",
      .message = "Division by zero" },
    { "php", "main.php", "<?php\n$a = 1\necho $a;\n", "",
      .printed =
          "\nParse error: syntax error, unexpected token \"echo\" in /sandbox/main.php on line 3\n",
      .file = "main.php", .line = 2, .category = CATEGORY_SYNTAX, .type = "ParseError",
      .advice = "$a = 1;" },
    { "php", "main.php", NULL,
      "PHP Warning:  Undefined variable $totl in /sandbox/main.php on line 3\nPHP Fatal error:  "
      "Uncaught TypeError: f(): Argument #1 ($n) must be of type int, null given, called in "
      "/sandbox/main.php on line 3 and defined in /sandbox/main.php:7\nStack trace:\n#0 {main}\n  "
      "thrown in /sandbox/main.php on line 7\n",
      .file = "main.php", .line = 3, .category = CATEGORY_TYPE, .type = "TypeError",
      .advice = "int" },
    { "perl", "main.pl", NULL,
      "Use of uninitialized value $x in addition (+) at main.pl line 2.\nIllegal division by zero "
      "at main.pl line 5.\n",
      .file = "main.pl", .line = 5, .category = CATEGORY_VALUE, .advice = "divisor" },
    { "perl", "main.pl", NULL, "bad record at main.pl line 9, <STDIN> line 3.\n", .file = "main.pl",
      .line = 9, .category = CATEGORY_RUNTIME, .message = "bad record" },
    { "perl", "main.pl", NULL,
      "no such setting: x at main.pl line 5.\n\tmain::load(\"x\") called at main.pl line 7\n",
      .file = "main.pl", .line = 5, .category = CATEGORY_RUNTIME, .message = "no such setting" },
    { "lua", "main.lua", "print(prnt)\n",
      "lua: main.lua:1: attempt to call a nil value (global 'prnt')\nstack "
      "traceback:\n\tmain.lua:1: in main chunk\n\t[C]: in ?\n",
      .file = "main.lua", .line = 1, .category = CATEGORY_NAME, .advice = "print" },
    { "lua", "main.lua", NULL,
      "lua: error loading module 'm' from file './m.lua':\n\t./m.lua:3: '=' expected near "
      "'y'\nstack traceback:\n\t[C]: in ?\n\tmain.lua:1: in main chunk\n",
      .file = "m.lua", .line = 3, .category = CATEGORY_SYNTAX },
    { "r", "main.R", "price <- \"1\"\nprint(price*2)\n",
      "Error in price * 2 : non-numeric argument to binary operator\nCalls: print\nExecution "
      "halted\n",
      .file = "main.R", .line = 2, .category = CATEGORY_TYPE, .advice = "as.numeric" },
    { "r", "main.R", NULL,
      "Error in library(dplyr) : there is no package called \xE2\x80\x98"
      "dplyr\xE2\x80\x99\nExecution halted\n",
      .category = CATEGORY_IMPORT, .advice = "dplyr" },
};

static void test_script_shapes(void)
{
    struct diagnoser *g = diagnoser();
    for (size_t i = 0; g && i < ARRAY_LEN(script_shapes); i++)
        check_shape(g, &script_shapes[i]);
    diagnoser_free(g);
}

static const struct shape sql_shapes[] = {
    { "sqlite", "main.sql", "CREATE TABLE users (id INTEGER);\nSELECT *\nFROM usrs;\n",
      "main.sql:2:1: error: no such table: usrs [SQLITE_ERROR]\n    2 | SELECT *\n      | ^\n",
      .file = "main.sql", .line = 3, .column = 6, .category = CATEGORY_NAME, .type = "SQLITE_ERROR",
      .message = "no such table: usrs", .advice = "FROM users;" },
    { "sqlite", "main.sql", NULL,
      "Parse error near line 3: no such column: nmae\n  SELECT nmae FROM users;\n         ^--- "
      "error here\n",
      .file = "main.sql", .line = 3, .category = CATEGORY_NAME, .message = "no such column" },
    { "sqlite", "main.sql", NULL,
      "Runtime error near line 3: UNIQUE constraint failed: users.email (19)\n", .line = 3,
      .category = CATEGORY_VALUE, .message = "users.email", .advice = "OR IGNORE" },
    { "sqlite", "main.sql", NULL, "Error: near line 2: near \"SELCT\": syntax error\n", .line = 2,
      .category = CATEGORY_SYNTAX, .advice = "SELECT" },
    { "sqlite", "main.sql", NULL, "Error: in prepare, no such table: t\n",
      .category = CATEGORY_NAME, .message = "no such table" },
    { "postgres", "main.sql", "CREATE TABLE users (id int);\n\nSELECT *\n  FROM usrs;\n",
      "psql:main.sql:4: ERROR:  42P01: relation \"usrs\" does not exist\nLINE 2:   FROM usrs;\n    "
      "           ^\nLOCATION:  parserOpenTable, parse_relation.c:1392\n",
      .file = "main.sql", .line = 4, .column = 8, .category = CATEGORY_NAME, .type = "42P01",
      .advice = "FROM users;" },
    { "postgres", "main.sql", NULL, "ERROR:  division by zero\n", .category = CATEGORY_VALUE,
      .type = "22012", .advice = "NULLIF" },
    { "postgres", "main.sql", NULL,
      "psql:main.sql:3: ERROR:  23503: insert or update on table \"books\" violates foreign key "
      "constraint \"books_author_fkey\"\nDETAIL:  Key (author)=(7) is not present in table "
      "\"authors\".\n",
      .file = "main.sql", .line = 3, .category = CATEGORY_VALUE, .type = "23503",
      .message = "not present", .advice = "authors" },
};

static void test_sql_shapes(void)
{
    struct diagnoser *g = diagnoser();
    for (size_t i = 0; g && i < ARRAY_LEN(sql_shapes); i++)
        check_shape(g, &sql_shapes[i]);
    diagnoser_free(g);
}

static void test_signal_is_taken_from_the_evidence(void)
{
    struct diagnoser *g = diagnoser();
    const struct evidence ended = { .reason = END_EXIT, .signal = SIGSEGV };
    const struct diagnose_input in = { .language = "c",
                                       .grammar = "gcc",
                                       .text = "main.c:1:1: error: not so\n",
                                       .len = 26,
                                       .evidence = &ended,
                                       .verdict = VERDICT_RUNTIME_ERROR };
    struct diagnosis d;
    if (g && CHECK(diagnose(g, &in, &d))) {
        CHECK_STR(d.type, "SIGSEGV");
        CHECK_INT(d.location.line, 0);
    }
    diagnoser_free(g);
}

/* Every text, cut anywhere, and with bytes that are none of its own: something is said or nothing,
 * and all of it is in place. */
static void check_sane(const struct diagnosis *d)
{
    CHECK(d->n_frames <= DIAGNOSE_FRAMES && d->n_causes <= DIAGNOSE_CAUSES);
    CHECK(d->n_suggestions <= DIAGNOSE_SUGGESTIONS && d->n_excerpt <= DIAGNOSE_EXCERPT);
    CHECK(memchr(d->message, '\0', sizeof d->message) && memchr(d->type, '\0', sizeof d->type));
    for (size_t i = 0; i < d->n_suggestions; i++)
        CHECK(d->suggestions[i].text[0] && d->suggestions[i].confidence > 0 &&
              d->suggestions[i].confidence <= 1);
}

static void cut_everywhere(struct diagnoser *g, const struct shape *shapes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct shape s = shapes[i];
        size_t len = strlen(s.text);
        for (size_t cut = 0; cut < len; cut++) {
            char *text = malloc(cut ? cut : 1); /* of its own, so that a read past it is seen */
            struct diagnosis d;
            if (!CHECK(text != NULL))
                return;
            memcpy(text, s.text, cut);
            s.text = text;
            if (read_shape(g, &s, cut, &d))
                check_sane(&d);
            for (size_t k = cut % 7; k < cut; k += 7)
                text[k] = (char)(cut * 31 + k * 17);
            if (read_shape(g, &s, cut, &d))
                check_sane(&d);
            free(text);
            s.text = shapes[i].text;
        }
    }
}

static void test_texts_that_are_cut_or_broken_do_no_harm(void)
{
    struct diagnoser *g = diagnoser();
    if (!g)
        return;
    cut_everywhere(g, gcc_shapes, ARRAY_LEN(gcc_shapes));
    cut_everywhere(g, go_shapes, ARRAY_LEN(go_shapes));
    cut_everywhere(g, rust_shapes, ARRAY_LEN(rust_shapes));
    cut_everywhere(g, java_shapes, ARRAY_LEN(java_shapes));
    cut_everywhere(g, script_shapes, ARRAY_LEN(script_shapes));
    cut_everywhere(g, sql_shapes, ARRAY_LEN(sql_shapes));
    diagnoser_free(g);
}

static void test_what_is_no_error_is_none(void)
{
    static const char *const grammars[] = { "gcc",  "go",  "rust", "java",   "ruby",    "php",
                                            "perl", "lua", "r",    "sqlite", "postgres" };
    struct diagnoser *g = diagnoser();
    for (size_t i = 0; g && i < ARRAY_LEN(grammars); i++) {
        const struct shape calm = { .grammar = grammars[i],
                                    .name = "main",
                                    .source = "x\n",
                                    .text = "starting\nread 12 rows, 0 errors\ndone\n" };
        struct diagnosis d;
        CHECK(!read_shape(g, &calm, strlen(calm.text), &d));
    }
    diagnoser_free(g);
}

static const struct check_test tests[] = {
    TEST(test_gcc_shapes),
    TEST(test_go_shapes),
    TEST(test_rust_shapes),
    TEST(test_java_shapes),
    TEST(test_script_shapes),
    TEST(test_sql_shapes),
    TEST(test_signal_is_taken_from_the_evidence),
    TEST(test_texts_that_are_cut_or_broken_do_no_harm),
    TEST(test_what_is_no_error_is_none),
};
CHECK_MAIN(tests)
