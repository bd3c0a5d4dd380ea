#include "examiner/warm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"

/* An error that no rule knows makes a table try, and so compile, all of its patterns. */
#define UNKNOWN "the quick brown fox"

static const struct warm_error {
    const char *language, *main_name;
    const char *before;
    const char *types; /* with spaces between; each of them is one error */
    const char *behind;
} errors[] = {
    { "python", "main.py",
      "Traceback (most recent call last):\n  File \"/sandbox/main.py\", line 1, in <module>\n"
      "    f(x)\n",
      "NameError TypeError ValueError KeyError IndexError AttributeError ModuleNotFoundError "
      "ImportError ZeroDivisionError FileNotFoundError UnboundLocalError RecursionError OSError "
      "AssertionError RuntimeError PermissionError UnicodeDecodeError EOFError Exception",
      ": " UNKNOWN "\n" },
    { "python", "main.py", "  File \"/sandbox/main.py\", line 1\n    f(x)\n    ^\n",
      "SyntaxError IndentationError", ": " UNKNOWN "\n" },
    { "javascript", "main.js", "/sandbox/main.js:1\nf(x)\n^\n\n",
      "ReferenceError TypeError SyntaxError RangeError Error",
      ": " UNKNOWN "\n    at Object.<anonymous> (/sandbox/main.js:1:1)\n\nNode.js v18.0.0\n" },
    { "typescript", "main.ts", "main.ts(1,1): error ", "TS2322 TS2304", ": " UNKNOWN "\n" },
    { "bash", "main.sh", "main.sh: line 1: ", "fox", ": " UNKNOWN "\n" },
    { "c", "main.c", "main.c:1:1: ", "error", ": " UNKNOWN "\n" },
    { "cpp", "main.cpp", "main.cpp:1:1: ", "error", ": " UNKNOWN "\n" },
    { "go", "main.go", "./main.go:1:1: ", "fox", "\n" },
    { "go", "main.go", "panic: ", "fox",
      "\n\ngoroutine 1 [running]:\nmain.main()\n\t/sandbox/main.go:1\n" },
    { "rust", "main.rs", "", "error[E0382] error", ": " UNKNOWN "\n --> main.rs:1:1\n" },
    { "java", "Main.java", "Exception in thread \"main\" ", "java.lang.RuntimeException",
      ": " UNKNOWN "\n\tat Main.main(Main.java:1)\n" },
    { "java", "Main.java", "Main.java:1: ", "error", ": " UNKNOWN "\n" },
    { "ruby", "main.rb", "main.rb:1:in `<main>': " UNKNOWN " (", "NameError NoMethodError", ")\n" },
    { "php", "main.php", "PHP Fatal error:  Uncaught ", "Error",
      ": " UNKNOWN " in /sandbox/main.php:1\nStack trace:\n" },
    { "perl", "main.pl", "the quick ", "fox", " at main.pl line 1.\n" },
    { "lua", "main.lua", "lua: main.lua:1: ", "fox", "\n" },
    { "r", "main.R", "Error in f(x) : ", "fox", "\n" },
    { "sqlite", "main.sql", "main.sql:1:1: error: ", "SQLITE_ERROR", ": " UNKNOWN "\n" },
    { "postgres", "main.sql", "main.sql:1:1: error: ", "42P01", ": " UNKNOWN "\n" },
};

/* The most common error, which takes the way of most. */
static const struct warm_error rehearsal = {
    "python", "main.py",
    "Traceback (most recent call last):\n  File \"/sandbox/main.py\", line 1, in <module>\n"
    "    f(x)\n",
    "NameError", ": name 'x' is not defined\n"
};

static void warm(struct diagnoser *g, const struct warm_error *w, const char *type, size_t n,
                 struct diagnosis *d)
{
    static const char source[] = "f(x)\n";
    char text[512];
    (void)snprintf(text, sizeof text, "%s%.*s%s", w->before, (int)n, type, w->behind);
    const struct evidence ev = { .reason = END_EXIT, .exit_code = 1 };
    const struct limits limits = { 0 };
    const struct usage usage = { 0 };
    const struct source_file file = { w->main_name, source, sizeof source - 1 };
    const struct diagnose_input in = {
        .language = w->language,
        .grammar = w->language,
        .text = text,
        .len = strlen(text),
        .printed = "",
        .main_name = w->main_name,
        .sources = &file,
        .n_sources = 1,
        .evidence = &ev,
        .limits = &limits,
        .usage = &usage,
        .verdict = VERDICT_RUNTIME_ERROR,
        .sealed = true,
    };
    (void)diagnose(g, &in, d);
}

void warm_reader(struct diagnoser *g, struct diagnosis *ret)
{
    warm(g, &rehearsal, rehearsal.types, strlen(rehearsal.types), ret);
}

void warm_diagnoser(struct diagnoser *g)
{
    autofree struct diagnosis *d = malloc(sizeof *d);
    if (d)
        warm_reader(g, d);
    for (size_t i = 0; d && i < ARRAY_LEN(errors); i++)
        for (const char *type = errors[i].types; *type;) {
            size_t n = strcspn(type, " ");
            warm(g, &errors[i], type, n, d);
            type += n + strspn(type + n, " ");
        }
}
