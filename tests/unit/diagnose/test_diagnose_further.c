/* A compiler that goes on after an error tells of several: all are there, each once, and never too
 * many. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/array.h"
#include "base/auto.h"
#include "check.h"
#include "diagnose/core/diagnose.h"
#include "run/diagnosis_json.h"

static struct diagnosis d;

static bool explain(const char *grammar, const char *text, size_t len, const char *printed)
{
    struct diagnoser *g = NULL;
    struct err e;
    if (!CHECK(diagnoser_new(&g, &e) == 0))
        return false;
    const struct diagnose_input in = {
        .grammar = grammar,
        .compiling = true,
        .text = text,
        .len = len,
        .printed = printed,
        .printed_len = printed ? strlen(printed) : 0,
        .verdict = VERDICT_COMPILE_ERROR,
    };
    bool found = diagnose(g, &in, &d);
    diagnoser_free(g);
    return found;
}

static const struct {
    const char *grammar, *text, *printed;
    size_t count;
    uint32_t line; /* of the first that is further */
    const char *type, *message;
} outputs[] = {
    { "gcc",
      "main.c: In function 'main':\nmain.c:3:5: error: 'x' undeclared (first use in this "
      "function)\n    3 |     x = 1;\nmain.c:3:5: note: each undeclared identifier is reported "
      "only once\nmain.c:7:9: warning: unused variable 'q' [-Wunused-variable]\nmain.c:9:12: "
      "error: implicit declaration of function 'f' [-Werror=implicit-function-declaration]\n",
      NULL, 1, 9, "-Werror=implicit-function-declaration", "implicit declaration" },
    /* A name that is used twice is missing once. */
    { "gcc",
      "/usr/bin/ld: main.o: in function `main':\nmain.c:5: undefined reference to "
      "`area'\n/usr/bin/ld: main.c:6: undefined reference to `area'\n/usr/bin/ld: main.c:7: "
      "undefined reference to `edge'\ncollect2: error: ld returned 1 exit status\n",
      NULL, 1, 7, "undefined reference", "'edge'" },
    { "go",
      "# command-line-arguments\n./main.go:5:2: imported and not used: \"os\"\n./main.go:9:14: "
      "cannot use s (variable of type T) as type I in argument to f:\n\tT does not implement I "
      "(missing M method)\n./main.go:12:2: undefined: y\n",
      NULL, 2, 9, "", "f: T does not implement I" },
    { "rust",
      "error[E0425]: cannot find value `x` in this scope\n --> main.rs:2:5\n  |\n2 |     "
      "x;\n\nwarning: unused\n --> main.rs:9:1\n\nerror[E0308]: mismatched types\n --> "
      "main.rs:4:18\n  |\n\nerror: aborting due to 2 previous errors\n",
      NULL, 1, 4, "E0308", "mismatched types" },
    { "java",
      "Main.java:2: error: cannot find symbol\n    Map m;\n    ^\n  symbol:   class Map\n  "
      "location: class Main\nMain.java:3: error: cannot find symbol\n    List l;\n    ^\n  symbol: "
      "  class List\n  location: class Main\n2 errors\n",
      NULL, 1, 3, "", "cannot find symbol: class List" },
    { "typescript", "",
      "main.ts(1,7): error TS2322: Type 'string' is not assignable to type "
      "'number'.\nmain.ts(4,1): error TS2304: Cannot find name 'y'.\n",
      1, 4, "TS2304", "Cannot find name" },
    { "sqlite",
      "Parse error near line 2: no such table: a\nRuntime error near line 5: UNIQUE constraint "
      "failed: b.c (19)\n",
      NULL, 1, 5, "", "UNIQUE constraint failed: b.c" },
    /* An error that only follows from an earlier one is not listed. */
    { "postgres",
      "psql:a.sql:2: ERROR:  relation \"x\" does not exist\npsql:a.sql:3: ERROR:  current "
      "transaction is aborted, commands ignored until end of transaction block\npsql:a.sql:7: "
      "ERROR:  42703: column \"y\" does not exist\n",
      NULL, 1, 7, "42703", "column \"y\"" },
    { "gcc", "main.c:3:5: error: 'x' undeclared (first use in this function)\n", NULL, 0, 0, "",
      "" },
};

static void test_further_errors_of_one_output_are_listed(void)
{
    for (size_t i = 0; i < ARRAY_LEN(outputs); i++) {
        if (!CHECK(explain(outputs[i].grammar, outputs[i].text, strlen(outputs[i].text),
                           outputs[i].printed)))
            continue;
        if (!CHECK_INT(d.n_further, outputs[i].count) || outputs[i].count == 0)
            continue;
        CHECK_INT(d.further[0].at.line, outputs[i].line);
        CHECK_STR(d.further[0].type, outputs[i].type);
        CHECK(strstr(d.further[0].message, outputs[i].message) != NULL);
        CHECK_INT(d.further_left_out, 0);
    }
}

static void test_an_error_that_is_told_twice_is_listed_once(void)
{
    static const char text[] = "a.c:1:1: error: one\na.c:2:1: error: two\na.c:1:1: error: "
                               "one\na.c:2:9: error: two\na.c:3:1: error: two\n";
    CHECK(explain("gcc", text, sizeof text - 1, NULL));
    CHECK_INT(d.n_further, 2);
    CHECK_INT(d.further[0].at.line, 2);
    CHECK_INT(d.further[1].at.line, 3);
}

/* A million errors are bounded: the number that is kept and the bytes that are read. */
static void test_a_million_errors_are_counted_and_cut(void)
{
    enum { ERRORS = 1000000 };
    scoped(buf) text = { 0 };
    struct err e;
    for (unsigned i = 1; i <= ERRORS; i++)
        if (!CHECK(buf_addf(&text, &e, "a.c:%u:1: error: e\n", i) == 0))
            return;
    CHECK(explain("gcc", buf_str(&text), text.len, NULL));
    CHECK_INT(d.n_further, DIAGNOSE_FURTHER);
    CHECK(d.further_left_out > 0 && d.further_left_out < DIAGNOSE_LINES_MAX);
}

/* DIAGNOSE-1: thousands of frames, each of which would be looked for in a large file. CPU time,
 * since other tests run beside. */
static void test_frames_are_not_looked_for_without_end(void)
{
    static const struct {
        const char *grammar, *head, *frame, *file;
    } floods[] = {
        { "java", "Exception in thread \"main\" java.lang.Error: x\n",
          "\tat A.valueOf(A.java:99999)\n", "A.java" },
        { "postgres", "psql:a.sql:1: ERROR:  x\n", "PL/pgSQL function f() line 9 at RAISE\n",
          "a.sql" },
    };
    struct diagnoser *g = NULL;
    struct err e;
    scoped(buf) source = { 0 };
    while (source.len < DIAGNOSE_SOURCE_MAX - 64)
        if (!CHECK(buf_addf(&source, &e, "create function x() as it is\n") == 0))
            return;
    for (size_t i = 0; i < ARRAY_LEN(floods); i++) {
        scoped(buf) text = { 0 };
        if (!CHECK(diagnoser_new(&g, &e) == 0 && buf_addf(&text, &e, "%s", floods[i].head) == 0))
            return;
        for (unsigned n = 0; n < DIAGNOSE_LINES_MAX; n++)
            CHECK(buf_addf(&text, &e, "%s", floods[i].frame) == 0);
        const struct source_file file = { floods[i].file, buf_str(&source), source.len };
        const struct diagnose_input in = { .grammar = floods[i].grammar,
                                           .text = buf_str(&text),
                                           .len = text.len,
                                           .sources = &file,
                                           .n_sources = 1 };
        clock_t before = clock();
        CHECK(diagnose(g, &in, &d));
        CHECK((clock() - before) / (CLOCKS_PER_SEC / 1000) < 1500);
        diagnoser_free(g);
    }
}

static void test_further_errors_are_shown_short(void)
{
    static const char text[] =
        "a.go:1:1: undefined: a\na.go:2:1: undefined: b\na.go:3:1: undefined: c\na.go:4:1: "
        "undefined: d\na.go:5:1: undefined: e\na.go:6:1: undefined: f\na.go:7:1: undefined: "
        "g\na.go:8:1: undefined: h\n";
    scoped(buf) out = { 0 };
    struct err e;
    CHECK(explain("go", text, sizeof text - 1, NULL));
    CHECK_INT(diagnosis_text(&d, false, 0, &out, &e), 0);
    CHECK(strstr(buf_str(&out), "note: 7 more errors:\n      a.go:2: undefined: b\n") != NULL);
    CHECK(strstr(buf_str(&out), "      a.go:6: undefined: f\n      and 2 more\n") != NULL);
    CHECK(strstr(buf_str(&out), "undefined: g") == NULL);
}

static void test_further_errors_survive_the_wire(void)
{
    static const char text[] = "a.go:1:1: undefined: a\na.go:2:1: undefined: b\n";
    static struct diagnosis again;
    CHECK(explain("go", text, sizeof text - 1, NULL));
    d.further_left_out = 3;
    json_t *json = diagnosis_json(&d);
    if (CHECK(diagnosis_from_json(json, &again)) && CHECK_INT(again.n_further, 1)) {
        CHECK_STR(again.further[0].message, "undefined: b");
        CHECK_INT(again.further[0].at.line, 2);
        CHECK_INT(again.further_left_out, 3);
    }
    json_decref(json);
}

static const struct check_test tests[] = {
    TEST(test_further_errors_of_one_output_are_listed),
    TEST(test_an_error_that_is_told_twice_is_listed_once),
    TEST(test_a_million_errors_are_counted_and_cut),
    TEST(test_frames_are_not_looked_for_without_end),
    TEST(test_further_errors_are_shown_short),
    TEST(test_further_errors_survive_the_wire),
};
CHECK_MAIN(tests)
