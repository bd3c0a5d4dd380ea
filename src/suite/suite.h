/* suite/suite.h — the tests of a project: the test runners that are known, and the tests that the
 * output of a runner names. Runs in: main and keeper (the table), reader (the output). Pure
 * functions over text, except suite_is_installed().
 *
 * SUITE-1 The output of a runner is a guest's text. A test can print any line of it, so a report
 *         helps the reader and decides no verdict.
 * SUITE-2 Time and memory are linear in the text, which is bounded: SUITE_TEXT_MAX, SUITE_CASES_MAX.
 * SUITE-3 Every text of a report is UTF-8 without a NUL. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "spec/run_options.h"

enum {
    SUITE_TEXT_MAX = 1 << 20, /* bytes of the output: half from its begin, half from its end */
    SUITE_CASES_MAX = 5000,
    SUITE_NAME_MAX = 400,        /* bytes of a name; a longer one is cut */
    SUITE_MESSAGE_MAX = 1000,    /* the same for a message */
    SUITE_DETAILS_MAX = 8 << 10, /* the same for details */
};

/* ---- runners ---- */

struct suite_report;

struct suite_runner {
    const char *name;          /* a word of test_runners */
    const char *language;      /* of the tests; its grammar explains failures */
    const char *const *marks;  /* patterns of names: such a file at the top settles the runner */
    const char *const *tests;  /* patterns of names: such a file, anywhere, may be a test */
    const char *script;        /* bash; runs the tests of /sandbox, and prints to stdout alone */
    const char *const *places; /* files of this machine; it is installed if one exists */
    const char *package;       /* in node_modules of a project, where it may be too; NULL: none */
    const char *install;       /* the command that installs it on Debian */
    const char *code, *beside; /* names for code and its tests; NULL: it needs a project */
    int no_tests;              /* the exit status if there is no test; -1: as for good tests */
    void (*read)(struct suite_report *r, const char *text, size_t n);
};

/* NULL for TEST_RUNNER_NONE. */
const struct suite_runner *suite_runner(enum test_runner runner);
bool suite_is_installed(const struct suite_runner *r);
/* Always -1: the error for a runner that is not installed. */
[[nodiscard]] int suite_refuse(const struct suite_runner *r, struct err *e);
/* The runner that takes code of this language with tests beside it. TEST_RUNNER_NONE: none does.
 * An installed one comes first. */
enum test_runner suite_of_language(const char *language);

/* The runners that the files of a project point to: bits of 1 << enum test_runner. */
struct suite_search {
    unsigned marked, possible;
    unsigned present; /* the project itself has the runner: its package */
};
/* path: below the directory of the project. */
void suite_see(struct suite_search *s, const char *path);
/* The runner of the project. A marked one comes first, then the first possible one that is
 * installed. */
[[nodiscard]] int suite_choose(const struct suite_search *s, enum test_runner *ret, struct err *e);
/* "pytest, unittest, ...", for messages. */
const char *suite_list(char *out, size_t size);

/* ---- reports ---- */

#define SUITE_OUTCOME_TABLE(X)   \
    X(SUITE_PASSED,  "passed")   \
    X(SUITE_FAILED,  "failed")   \
    X(SUITE_ERROR,   "error") /* it did not get to its end */ \
    X(SUITE_SKIPPED, "skipped")

enum suite_outcome {
#define X(id, word) id,
    SUITE_OUTCOME_TABLE(X)
#undef X
        SUITE_OUTCOME_COUNT_
};
extern const char *const suite_outcomes[]; /* words, in that order; NULL-terminated */

struct suite_case {
    char *name;
    enum suite_outcome outcome;
    double duration_ms; /* below 0: unknown */
    char *message;      /* one line; NULL: none */
    char *details;      /* the text of the failure, as the language prints it; NULL: none */
    char *file;         /* where it failed; NULL: unknown */
    uint32_t line;      /* 0: unknown */
    uint32_t hash;      /* of the name */
};

struct suite_report {
    struct suite_case *cases;
    size_t n, room;
    bool cut;    /* there were more cases, or more text */
    bool failed; /* memory ran out */
};
void suite_report_done(struct suite_report *r);

/* Reads the output of a runner. */
void suite_read(const struct suite_runner *runner, const char *text, size_t n,
                struct suite_report *ret);
