#include "diagnose/core/diagnose.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/clock.h"
#include "check.h"
#include "diagnose/core/grammar.h"
#include "edge.h"
#include "run/diagnosis_json.h"

static struct diagnosis d; /* large; of the test that runs */

/* Explains a text, with at most one source. */
static bool explain(const char *grammar, const char *text, const char *name, const char *source)
{
    struct diagnoser *g = NULL;
    struct err e;
    const struct source_file file = { name, source, source ? strlen(source) : 0 };
    const struct diagnose_input in = {
        .language = grammar,
        .grammar = grammar,
        .text = text,
        .len = strlen(text),
        .main_name = name,
        .sources = &file,
        .n_sources = source ? 1 : 0,
        .verdict = VERDICT_RUNTIME_ERROR,
    };
    if (!CHECK(diagnoser_new(&g, &e) == 0))
        return false;
    bool found = diagnose(g, &in, &d);
    CHECK_STR(match_broken(g), NULL);
    diagnoser_free(g);
    return found;
}

/* The same of a run that was measured. */
static bool explain_run(const char *grammar, const char *text, struct diagnose_input in)
{
    struct diagnoser *g = NULL;
    struct err e;
    in.grammar = in.language = grammar;
    in.text = text;
    in.len = strlen(text);
    in.sealed = true;
    if (!CHECK(diagnoser_new(&g, &e) == 0))
        return false;
    bool found = diagnose(g, &in, &d);
    diagnoser_free(g);
    return found;
}

static const char *best(void)
{
    return d.n_suggestions ? d.suggestions[0].text : "";
}

/* ---- Python ---- */

static void test_python_traceback(void)
{
    CHECK(
        explain("python",
                "Traceback (most recent call last):\n  File \"/sandbox/main.py\", line 4, in "
                "<module>\n    main()\n  File \"/sandbox/main.py\", line 2, in main\n    prin(1)\n "
                "   ^^^^\nNameError: name 'prin' is not defined. Did you mean: 'print'?\n",
                "main.py", "def main():\n\tprin(1)\n\nmain()\n"));
    CHECK_STR(d.type, "NameError");
    CHECK_INT(d.category, CATEGORY_NAME);
    CHECK_STR(d.location.file, "main.py");
    CHECK_INT(d.location.line, 2);
    CHECK_INT(d.location.column, 2);
    CHECK_INT(d.location.end_column, 6);
    CHECK_INT(d.n_frames, 2);
    CHECK_STR(d.frames[0].function, "main");
    CHECK_STR(d.suggestions[0].replacement, "\tprint(1)");
    CHECK_STR(d.docs, "https://docs.python.org/3/library/exceptions.html#NameError");
}

static void test_python_chain(void)
{
    CHECK(explain("python",
                  "Traceback (most recent call last):\n  File \"/sandbox/a.py\", line 1, in f\n    "
                  "x()\nValueError: inner\n\nThe above exception was the direct cause of the "
                  "following exception:\n\nTraceback (most recent call last):\n  File "
                  "\"/sandbox/a.py\", line 3, in <module>\n    f()\nRuntimeError: outer\n",
                  "a.py", NULL));
    CHECK_STR(d.type, "RuntimeError");
    CHECK_INT(d.location.line, 3);
    CHECK_INT(d.n_causes, 1);
    CHECK_STR(d.causes[0].message, "inner");
    CHECK_INT(d.causes[0].at.line, 1);
}

static void test_python_group(void)
{
    CHECK(
        explain("python",
                "  + Exception Group Traceback (most recent call last):\n  |   File "
                "\"/sandbox/a.py\", line 9, in <module>\n  |     raise x\n  | ExceptionGroup: two "
                "(2 sub-exceptions)\n  +-+---------------- 1 ----------------\n    | Traceback "
                "(most recent call last):\n    |   File \"/sandbox/a.py\", line 2, in f\n    |     "
                "int('a')\n    | ValueError: bad\n    +---------------- 2 ----------------\n    | "
                "KeyError: 'b'\n    +------------------------------------\n",
                "a.py", NULL));
    CHECK_STR(d.type, "ExceptionGroup");
    CHECK_INT(d.location.line, 9);
    CHECK(d.n_causes >= 1);
    CHECK_STR(d.causes[0].type, "ValueError");
}

static void test_python_syntax_error_and_cell(void)
{
    CHECK(explain(
        "python",
        "  File \"/sandbox/a.py\", line 2\n    if x\n        ^\nSyntaxError: expected ':'\n",
        "a.py", "x = 1\nif x\n  y\n"));
    CHECK_INT(d.category, CATEGORY_SYNTAX);
    CHECK_INT(d.location.column, 5);
    CHECK_STR(d.suggestions[0].replacement, "if x:");
    CHECK(explain("python",
                  "Traceback (most recent call last):\n  Cell In[3], line 7, in <module>\n    "
                  "a[9]\nIndexError: list index out of range\n",
                  NULL, NULL));
    CHECK_INT(d.location.line, 7);
    CHECK_STR(d.location.file, "Cell In[3]");
}

/* The traceback comes from the guest: its caret may stand past the end of the line (GRAMMAR-1). */
static void test_python_caret_past_the_line_is_not_followed(void)
{
    CHECK(explain("python",
                  "Traceback (most recent call last):\n  File \"main.py\", line 1, in <module>\n   "
                  " a_name_that_is_longer_than_the_line[5]\n    "
                  "~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~^^^\nIndexError: list index out of range\n",
                  "main.py", edge_copy("a[1]", sizeof "a[1]")));
    CHECK_STR(d.type, "IndexError");
}

/* A length that is computed from the guest's text must not become negative: printf() would read on
 * to the next NUL (GRAMMAR-2). */
static void test_empty_parts_of_a_message_are_not_read_past(void)
{
    static const struct {
        const char *grammar, *text, *name, *source;
    } rows[] = {
        { "rust", "error[E0277]: x\n --> main.rs:1:1\nhelp: ", "main.rs", "fn main() {}" },
        { "rust", "error[E0425]: no `x`\n --> main.rs:1:1\n  | ^ help: : `y`", "main.rs", "x" },
        { "rust", "thread 'main' panicked at ', main.rs:1:2", "main.rs", "fn main() {}" },
        { "python",
          "Traceback (most recent call last):\n  File \"main.py\", line 1, in "
          "<module>\nZeroDivisionError: integer modulo by zero",
          "main.py", "divmod(1, len()" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        bool python = strcmp(rows[i].grammar, "python") == 0; /* the edge holds one text */
        const char *text = rows[i].text, *source = rows[i].source;
        if (python)
            source = edge_copy(source, strlen(source));
        else
            text = edge_copy(text, strlen(text));
        const struct source_file file = { rows[i].name, source, strlen(rows[i].source) };
        const struct diagnose_input in = { .language = rows[i].grammar,
                                           .grammar = rows[i].grammar,
                                           .text = text,
                                           .len = strlen(rows[i].text),
                                           .main_name = rows[i].name,
                                           .sources = &file,
                                           .n_sources = 1,
                                           .verdict = VERDICT_RUNTIME_ERROR };
        struct diagnoser *g = NULL;
        struct err e;
        if (!CHECK(diagnoser_new(&g, &e) == 0))
            return;
        CHECK(diagnose(g, &in, &d));
        diagnoser_free(g);
    }
}

static void test_python_of_notebooks_and_pytest(void)
{
    CHECK(explain(
        "python",
        "KeyError      Traceback (most recent call last)\nCell In[3], line 1\n----> 1 "
        "df[\"Price\"].sum()\n\nFile ~/lib/python3.11/site-packages/pandas/core/frame.py:3807, in "
        "DataFrame.__getitem__(self, key)\n   3806     return self._getitem_multilevel(key)\n-> "
        "3807 indexer = self.columns.get_loc(key)\n\nKeyError: 'Price'\n",
        NULL, NULL));
    CHECK_STR(d.type, "KeyError");
    CHECK_STR(d.location.file, "Cell In[3]");
    CHECK_STR(d.excerpt[0].text, "df[\"Price\"].sum()");
    CHECK(explain(NULL,
                  "    def test_load():\n>       assert load('{}') == 1\n\ntest_a.py:6: \n_ _ _ "
                  "_\n\n    def load(s):\n>       return json.loads(s)[\"a\"]\nE       KeyError: "
                  "'a'\n\ntest_a.py:3: KeyError\nFAILED test_a.py::test_load - KeyError: 'a'\n",
                  NULL, NULL));
    CHECK_STR(d.language, "python");
    CHECK_STR(d.type, "KeyError");
    CHECK_STR(d.message, "'a'");
    CHECK_INT(d.location.line, 3);
    CHECK_INT(d.n_frames, 2);
}

static void test_the_users_frames_come_first(void)
{
    CHECK(explain(
        "python",
        "Traceback (most recent call last):\n  File \"/sandbox/a.py\", line 5, in <module>\n    "
        "load(x)\n  File \"/usr/lib/python3.11/json/__init__.py\", line 346, in loads\n    return "
        "d(s)\njson.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)\n",
        "a.py", NULL));
    CHECK_STR(d.type, "JSONDecodeError");
    CHECK_INT(d.location.line, 5);
    CHECK(d.frames[0].user && !d.frames[1].user);
    CHECK(strstr(best(), "empty"));
}

/* ---- others ---- */

static void test_node(void)
{
    CHECK(explain("node",
                  "(node:1) Warning: old\n/sandbox/m.js:2\nx.y.z();\n    ^\n\nTypeError: Cannot "
                  "read properties of undefined (reading 'z')\n    at async f "
                  "(file:///sandbox/m.js:2:5)\n    at node:internal/main:28:49 {\n  [cause]: "
                  "RangeError: inner\n      at g (/sandbox/m.js:9:1)\n}\n\nNode.js v20.0.0\n",
                  "m.js", "const x = {};\nx.y.z();\n"));
    CHECK_STR(d.type, "TypeError");
    CHECK_INT(d.location.line, 2);
    CHECK_INT(d.location.column, 5);
    CHECK_STR(d.frames[0].function, "f");
    CHECK_INT(d.n_causes, 1);
    CHECK_STR(d.causes[0].type, "RangeError");
    CHECK_STR(d.suggestions[0].replacement, "x.y?.z();");
}

static void test_node_codes(void)
{
    CHECK(explain(
        "node",
        "node:internal/modules/esm/resolve:1\n    x\n    ^\n\nError [ERR_MODULE_NOT_FOUND]: Cannot "
        "find package 'left-pad' imported from /sandbox/m.mjs\n    at new N "
        "(node:internal/errors:405:5) {\n  code: 'ERR_MODULE_NOT_FOUND'\n}\n",
        "m.mjs", "// one\nimport p from \"left-pad\";\n"));
    CHECK_STR(d.type, "ERR_MODULE_NOT_FOUND");
    CHECK_INT(d.category, CATEGORY_IMPORT);
    CHECK_INT(d.location.line, 2);
    CHECK_STR(d.docs, "https://nodejs.org/api/errors.html#err_module_not_found");
}

static void test_typescript(void)
{
    CHECK(explain("typescript",
                  "m.ts(3,7): error TS2322: Type 'string' is not assignable to type 'number'.\n",
                  "m.ts", "\n\nconst abc: number = \"1\";\n"));
    CHECK_STR(d.type, "TS2322");
    CHECK_INT(d.location.line, 3);
    CHECK_INT(d.location.end_column, 10);
    CHECK(strstr(best(), "Number("));
}

static void test_shells(void)
{
    CHECK(explain("shell", "m.sh: line 2: gerp: command not found\n", "m.sh", "x=1\ngerp a b\n"));
    CHECK_INT(d.location.line, 2);
    CHECK_STR(d.suggestions[0].replacement, "grep a b");
    CHECK(explain("shell", "m.zsh:4: command not found: gerp\n", "m.zsh", "\n\n\ngerp a b\n"));
    CHECK_INT(d.location.line, 4);
    CHECK_STR(d.type, "command not found");
}

static void test_the_grammar_is_found_by_the_text(void)
{
    CHECK(explain(
        NULL,
        "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nKeyError: 1\n",
        NULL, NULL));
    CHECK_STR(d.language, "python");
    CHECK(!explain(NULL, "nothing went wrong here\n", NULL, NULL));
}

/* ---- measurements ---- */

static void test_limits_and_signals(void)
{
    struct limits limits = limits_default();
    const struct usage usage = { .wall_us = 2000000, .cpu_us = 1900000 };
    limits.v[LIMIT_WALL_MS] = 2000;
    struct evidence ev = { .reason = END_WALL };
    CHECK(explain_run("python", "",
                      (struct diagnose_input){ .evidence = &ev,
                                               .limits = &limits,
                                               .usage = &usage,
                                               .verdict = VERDICT_TIMEOUT,
                                               .main_name = "a.py",
                                               .hot_line = 7 }));
    CHECK_STR(d.type, "timeout");
    CHECK_INT(d.location.line, 7);
    CHECK(strstr(d.message, "2s") && strstr(d.message, "1.90 s of CPU"));
    CHECK(d.n_suggestions == 2 && strstr(d.suggestions[1].text, "--timeout 4s"));
    ev = (struct evidence){ .signal = 11 };
    CHECK(explain_run(
        "gcc", "", (struct diagnose_input){ .evidence = &ev, .verdict = VERDICT_RUNTIME_ERROR }));
    CHECK_STR(d.type, "SIGSEGV");
    CHECK(strstr(best(), "sanitize"));
}

/* By its own word, which may be any text. */
static void stopped_with(const char *whereabouts, const char *source)
{
    struct limits limits = limits_default();
    const struct usage usage = { .wall_us = 2000000, .cpu_us = 1900000 };
    const struct source_file file = { "a.py", source, strlen(source) };
    struct evidence ev = { .reason = END_WALL };
    CHECK(explain_run("python", "",
                      (struct diagnose_input){ .evidence = &ev,
                                               .limits = &limits,
                                               .usage = &usage,
                                               .verdict = VERDICT_TIMEOUT,
                                               .main_name = "a.py",
                                               .sources = &file,
                                               .n_sources = 1,
                                               .whereabouts = whereabouts,
                                               .whereabouts_len = strlen(whereabouts) }));
}

#define LOOK        "At\nStack (most recent call first):\n"
#define FRAME(n, f) "  File \"/sandbox/a.py\", line " #n " in " f "\n"

static void test_a_stopped_program_is_told_its_line_and_its_loop(void)
{
    static const char source[] = "def f(n):\n    for i in n:\n        x = i\n        y = x\n\n"
                                 "while True:\n    f(n)\n";
    stopped_with(LOOK FRAME(4, "f") FRAME(7, "<module>") LOOK FRAME(3, "f") FRAME(7, "<module>")
                     LOOK FRAME(3, "f") FRAME(7, "<module>"),
                 source);
    CHECK_INT(d.location.line, 3);
    CHECK_INT(d.n_frames, 2);
    CHECK(strstr(best(), "line 3 of a.py in f, in the loop at line 2: for i in n:"));
    stopped_with(LOOK FRAME(1, "f") FRAME(7, "<module>"), source);
    CHECK(strstr(best(), "line 1 of a.py in f, called in the loop at line 6: while True:"));
    stopped_with(LOOK FRAME(6, "<module>"), source);
    CHECK(strstr(best(), "line 6 of a.py, which is a loop: while True:"));
}

static void test_a_thread_that_waits_is_not_the_place(void)
{
    stopped_with(LOOK "  File \"/usr/lib/python3.11/threading.py\", line 9 in join\n" FRAME(
                     1, "g") "\nThread 0x01 (most recent call first):\n" FRAME(2, "work"),
                 "work()\nx\n");
    CHECK_INT(d.location.line, 2);
    stopped_with(LOOK "  File \"/usr/lib/python3.11/threading.py\", line 9 in join\n" FRAME(1, "g"),
                 "work()\nx\n");
    CHECK_INT(d.location.line, 1);
}

static void test_whereabouts_that_are_no_stacks_tell_nothing(void)
{
    static const char *const texts[] = { "",
                                         "At",
                                         "At\nAt\n\n",
                                         "  File \"a.py\", line 3 in f\n",
                                         LOOK "  File \"a.py\", line 99999999 in f\n",
                                         LOOK "  File \"/usr/x.py\", line 3 in f\n",
                                         LOOK "  File \"\", line 3 in f\n" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        stopped_with(texts[i], "x\n");
        CHECK_INT(d.location.line, 0);
        CHECK(strstr(best(), "--timeout"));
    }
}

static void test_a_program_that_ended_well_is_not_explained(void)
{
    const struct evidence ev = { 0 };
    CHECK(!explain_run(
        "python", "Traceback (most recent call last):\n  File \"a\", line 1, in f\nKeyError: 1\n",
        (struct diagnose_input){ .evidence = &ev, .verdict = VERDICT_OK }));
}

static void test_the_policy_is_named(void)
{
    char allowed[] = "echo";
    char *list[] = { allowed, NULL };
    const struct evidence ev = { .exit_code = 1 };
    struct diagnose_input in = { .evidence = &ev,
                                 .verdict = VERDICT_RUNTIME_ERROR,
                                 .main_name = "m.sh" };
    CHECK(explain_run("shell", "m.sh: line 1: /etc/x: Read-only file system\n", in));
    CHECK(d.sandbox && strstr(best(), "--writable-root"));
    in.allow_commands = list;
    CHECK(explain_run("shell", "m.sh: line 1: /usr/bin/date: Permission denied\n", in));
    CHECK(d.sandbox && strstr(best(), "--allow-command date"));
    CHECK_INT(d.category, CATEGORY_SANDBOX);
    /* readers paste suggestions into shells */
    static const char *const pasted[] = {
        "a;id", "a$(id)", "-x", "a`id`", "a\x1b[2J", "a|sh", "a&b"
    };
    for (size_t i = 0; i < ARRAY_LEN(pasted); i++) {
        char said[96];
        (void)snprintf(said, sizeof said, "m.sh: line 1: /usr/bin/%s: Permission denied\n",
                       pasted[i]);
        CHECK(explain_run("shell", said, in));
        CHECK(!strstr(best(), "--allow-command"));
    }
    CHECK(
        explain_run("python",
                    "Traceback (most recent call last):\n  File \"/sandbox/a.py\", line 1, in "
                    "<module>\nsocket.gaierror: [Errno -3] Temporary failure in name resolution\n",
                    (struct diagnose_input){ .evidence = &ev, .verdict = VERDICT_RUNTIME_ERROR }));
    CHECK(d.sandbox);
    CHECK_INT(d.category, CATEGORY_NETWORK);
}

/* ---- how it is shown ---- */

static void test_text_reads_like_a_compilers(void)
{
    scoped(buf) text = { 0 };
    struct err e;
    CHECK(explain("python",
                  "Traceback (most recent call last):\n  File \"/sandbox/a.py\", line 3, in "
                  "<module>\nNameError: name 'totl' is not defined\n",
                  "a.py", "total = 1\n# \x1b[31m\n\tprint(totl)\n"));
    CHECK_INT(diagnosis_text(&d, false, 0, &text, &e), 0);
    CHECK_STR(buf_str(&text),
              "error[NameError]: name 'totl' is not defined\n --> a.py:3:8\n  |\n1 | total = 1\n2 "
              "| # \xEF\xBF\xBD[31m\n3 |     print(totl)\n  |           ^^^^\nhelp: Did you mean "
              "'total'?\n          print(total)\ndocs: "
              "https://docs.python.org/3/library/exceptions.html#NameError\n");
}

/* Text of the guest, or of a service, never controls the terminal, and nothing beyond the end of a
 * text is read. */
static void test_nothing_of_a_diagnosis_moves_a_terminal(void)
{
#define EVIL                                        \
    "a\x1b[2J\x9b\x32J\xc2\x9b\x07\x7f\xe2\x80\xae" \
    "z\xc2"
    static struct diagnosis evil = { .type = EVIL, .message = EVIL, .docs = EVIL };
    scoped(buf) text = { 0 };
    struct err e;
    evil.location = (struct place_in_code){ .file = EVIL, .line = 1 };
    evil.n_frames = 2;
    evil.frames[1] = (struct frame){ .at = evil.location, .function = EVIL, .user = true };
    evil.n_causes = 1;
    evil.causes[0] = (struct cause){ .type = EVIL, .message = EVIL, .at = evil.location };
    evil.n_further = 1;
    evil.further[0] = (struct further_error){ .message = EVIL, .at = evil.location };
    evil.n_excerpt = 1;
    evil.excerpt[0] = (struct excerpt_line){ .line = 1, .text = EVIL };
    evil.n_suggestions = 1;
    evil.suggestions[0] = (struct suggestion){ .text = EVIL, .replacement = EVIL };
#undef EVIL
    CHECK_INT(diagnosis_text(&evil, false, 0, &text, &e), 0);
    CHECK_STR(buf_str(&text),
              "error[a[2J2Jz]: a[2J2Jz\n --> a[2J2Jz:1\n  |\n1 | a[2J2Jz\nhelp: a[2J2Jz\n      "
              "a[2J2Jz\nnote: after a[2J2Jz: a[2J2Jz (a[2J2Jz:1)\nnote: called from a[2J2Jz:1 in "
              "a[2J2Jz\nnote: 1 more error:\n      a[2J2Jz:1: a[2J2Jz\ndocs: a[2J2Jz\n");
}

static void test_text_fits_a_terminal(void)
{
    scoped(buf) text = { 0 };
    struct err e;
    CHECK(explain("python",
                  "Traceback (most recent call last):\n  File \"/sandbox/a.py\", line 1, in "
                  "<module>\nNameError: name 'totl' is not defined\n",
                  "a.py", "total = 1; print('a long line that does not fit', totl)\n"));
    CHECK_INT(diagnosis_text(&d, false, 30, &text, &e), 0);
    CHECK_STR(buf_str(&text),
              "error[NameError]: name 'totl'\n  is not defined\n --> a.py:1:51\n  |\n1 |  that "
              "does not fit', totl)\n  |                      ^^^^\nhelp: Did you mean 'total'?\n  "
              "    total = 1; print('a long line that does not fit', total)\ndocs: "
              "https://docs.python.org/3/library/exceptions.html#NameError\n");
}

static void test_long_lines_are_cut_around_the_caret(void)
{
    char source[900], word[] = "totl";
    memset(source, 'x', sizeof source);
    memcpy(source + 600, " totl ", 6);
    source[800] = '\n';
    source[801] = '\0';
    (void)word;
    CHECK(explain("python",
                  "Traceback (most recent call last):\n  File \"/sandbox/a.py\", line 1, in "
                  "<module>\nNameError: name 'totl' is not defined\n",
                  "a.py", source));
    const struct excerpt_line *x = &d.excerpt[0];
    CHECK_INT(d.n_excerpt, 1);
    CHECK(strlen(x->text) < 130);
    CHECK(x->caret > 0 && strncmp(x->text + x->caret - 1, "totl", 4) == 0);
    CHECK_INT(x->caret_end, x->caret + 4);
}

/* A line of quotes of which none ends, and more source than anybody reads. */
static void test_hostile_sources_take_no_time(void)
{
    static char source[DIAGNOSE_SOURCE_MAX], huge[DIAGNOSE_SOURCE_MAX + 2];
    const struct {
        const char *language, *said, *file;
    } rows[] = {
        { "go", "./m.go:1:5: syntax error: unexpected EOF, expecting }\n", "m.go" },
        { "java", "M.java:1: error: reached end of file while parsing\n", "M.java" },
        { "python",
          "Traceback (most recent call last):\n  File \"/sandbox/a.py\", line 1, in "
          "<module>\nKeyError: 'totl'\n",
          "a.py" },
    };
    for (size_t i = 0; i + 1 < sizeof source; i++)
        source[i] = i % 2 ? '"' : '\\';
    source[0] = '"';
    uint64_t begun = clock_ms();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        CHECK(explain(rows[i].language, rows[i].said, rows[i].file, source));
    CHECK(clock_ms() - begun < 3000);
    memset(huge, 'x', sizeof huge - 1);
    CHECK(explain(rows[0].language, rows[0].said, rows[0].file, huge));
    CHECK_INT(d.n_excerpt, 0);
    CHECK_STR(d.location.file, "m.go");
}

static void test_json_and_back(void)
{
    struct diagnosis back;
    CHECK(explain("shell", "m.sh: line 2: gerp: command not found\n", "m.sh", "x=1\ngerp a b\n"));
    json_t *json = diagnosis_json(&d);
    CHECK(diagnosis_from_json(json, &back));
    CHECK_STR(back.message, d.message);
    CHECK_INT(back.location.line, 2);
    CHECK_STR(back.suggestions[0].replacement, "grep a b");
    CHECK(!diagnosis_from_json(NULL, &back));
    json_decref(json);
}

static void test_a_flood_is_read_at_both_ends(void)
{
    size_t n = 3 << 20;
    autofree char *text = malloc(n + 200);
    if (!CHECK(text != NULL))
        return;
    memset(text, 'x', n);
    for (size_t i = 99; i < n; i += 100)
        text[i] = '\n';
    (void)snprintf(text + n, 200,
                   "\nTraceback (most recent call last):\n  File \"a.py\", line 7, in "
                   "<module>\nKeyError: 'k'\n");
    CHECK(explain("python", text, NULL, NULL));
    CHECK_INT(d.location.line, 7);
}

/* "typer" is near "types", and "bcrypt" near "crypto": a known package is not installed. */
static void test_known_packages_are_not_misspelt(void)
{
    static const struct {
        const char *grammar, *before, *after; /* around the name */
        const char *known, *misspelt;
    } rows[] = {
        { "python",
          "Traceback (most recent call last):\n  File \"/sandbox/a.py\", line 1, in <module>\n    "
          "import x\nModuleNotFoundError: No module named '",
          "'\n", "typer", "typees" },
        { "node", "/sandbox/a.js:1\n\nError: Cannot find module '",
          "'\nRequire stack:\n- "
          "/sandbox/a.js\n    at x (node:internal/modules/cjs/loader:1:2)\n",
          "bcrypt", "htttp" },
    };
    char text[400];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        (void)snprintf(text, sizeof text, "%s%s%s", rows[i].before, rows[i].known, rows[i].after);
        CHECK(explain(rows[i].grammar, text, "a", NULL));
        CHECK(strstr(best(), "Did you mean") == NULL && strstr(best(), rows[i].known) != NULL);
        (void)snprintf(text, sizeof text, "%s%s%s", rows[i].before, rows[i].misspelt,
                       rows[i].after);
        CHECK(explain(rows[i].grammar, text, "a", NULL));
        CHECK(strstr(best(), "Did you mean") != NULL);
    }
    CHECK(
        explain("rust",
                "error[E0432]: unresolved import `log`\n --> main.rs:1:5\n  |\n1 | use log::x;\n  "
                "|     ^^^ help: a similar path exists: `std::alloc`\n",
                "main.rs", NULL));
    CHECK(strstr(best(), "`log` is a crate that is not available here") != NULL);
}

/* A program can claim to miss any package, and a reader would install it on the host
 * (DIAGNOSE-4). */
static void test_no_command_is_made_of_what_a_program_says(void)
{
    CHECK(explain("python",
                  "Traceback (most recent call last):\n  File \"main.py\", line 1, in "
                  "<module>\nModuleNotFoundError: No module named 'belljar_evil_xyz'\n",
                  NULL, NULL));
    CHECK(d.n_suggestions > 0);
    for (size_t i = 0; i < d.n_suggestions; i++)
        CHECK(!strstr(d.suggestions[i].text, "pip install") && !d.suggestions[i].replacement[0]);
    CHECK(explain("python",
                  "Traceback (most recent call last):\n  File \"main.py\", line 1, in "
                  "<module>\nModuleNotFoundError: No module named 'yaml'\n",
                  NULL, NULL));
    CHECK(strstr(d.suggestions[0].text, "pip install") != NULL); /* that one we know */
}

static const struct check_test tests[] = {
    TEST(test_known_packages_are_not_misspelt),
    TEST(test_no_command_is_made_of_what_a_program_says),
    TEST(test_python_traceback),
    TEST(test_python_chain),
    TEST(test_python_group),
    TEST(test_python_syntax_error_and_cell),
    TEST(test_python_caret_past_the_line_is_not_followed),
    TEST(test_empty_parts_of_a_message_are_not_read_past),
    TEST(test_python_of_notebooks_and_pytest),
    TEST(test_the_users_frames_come_first),
    TEST(test_node),
    TEST(test_node_codes),
    TEST(test_typescript),
    TEST(test_shells),
    TEST(test_the_grammar_is_found_by_the_text),
    TEST(test_limits_and_signals),
    TEST(test_a_stopped_program_is_told_its_line_and_its_loop),
    TEST(test_a_thread_that_waits_is_not_the_place),
    TEST(test_whereabouts_that_are_no_stacks_tell_nothing),
    TEST(test_a_program_that_ended_well_is_not_explained),
    TEST(test_the_policy_is_named),
    TEST(test_text_reads_like_a_compilers),
    TEST(test_nothing_of_a_diagnosis_moves_a_terminal),
    TEST(test_text_fits_a_terminal),
    TEST(test_long_lines_are_cut_around_the_caret),
    TEST(test_hostile_sources_take_no_time),
    TEST(test_json_and_back),
    TEST(test_a_flood_is_read_at_both_ends),
};
CHECK_MAIN(tests)
