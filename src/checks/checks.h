/* checks/checks.h — checks of a program that execute no line of it: the tools of each language, the
 * script that starts them in a jar, and the report that the script prints.
 * Runs in: main and keeper (the table, the script), reader (the report). Pure functions over text.
 *
 * CHECKS-1 The report is a guest's text: a parser that hostile code has taken over can print any of
 *          it. It helps the reader and decides no verdict.
 * CHECKS-2 Time and memory are linear in the report, which is bounded by CHECKS_REPORT_MAX.
 * CHECKS-3 A report that is cut, or that lacks its end, is not complete, and a check without a
 *          complete report is not passed.
 * CHECKS-4 No name of a file becomes a part of the script. Names are arguments. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "runtime/language.h"

enum {
    CHECKS_FILES_MAX = 500,      /* files with code */
    CHECKS_REPORT_MAX = 1 << 20, /* bytes; of a longer report only the begin is read */
    CHECKS_TEXT_MAX = 32 << 10,  /* bytes of the output of one tool that the script passes on */
    CHECKS_NAME_MAX = 255,       /* bytes of a name */
    CHECKS_PROBLEMS_MAX = 200,   /* of all files together */
};
#define CHECKS_SCRIPT ".belljar-check.sh"
/* A variable of the run: our programs for guests, where a jar does not have them at their usual place
 * (level process). */
#define CHECKS_GUEST  "BELLJAR_GUEST"

/* The questions. The tool of a compiled language answers all of them at once (`compile`): then each
 * problem belongs to the question that its category names. */
#define CHECK_STEP_TABLE(X)      \
    X(CHECK_SYNTAX,  "syntax")   \
    X(CHECK_TYPES,   "types")    \
    X(CHECK_IMPORTS, "imports")  \
    X(CHECK_COMPILE, "compile")

enum check_step {
#define X(id, word) id,
    CHECK_STEP_TABLE(X)
#undef X
        CHECK_STEP_COUNT_
};
enum { CHECK_QUESTIONS = CHECK_COMPILE };
extern const char *const check_steps[]; /* words, in that order; NULL-terminated */

/* The answer to a question. A later row outweighs the rows before it. */
#define CHECK_STATE_TABLE(X)                                                     \
    X(CHECK_NONE,          "none")          /* no tool for it is known */        \
    X(CHECK_OK,            "ok")                                                 \
    X(CHECK_SKIPPED,       "skipped")       /* other errors come first */         \
    X(CHECK_NOT_INSTALLED, "not_installed") /* there is a tool, but not here */  \
    X(CHECK_UNKNOWN,       "unknown")       /* the tool did not get to its end */ \
    X(CHECK_FAILED,        "failed")

enum check_state {
#define X(id, word) id,
    CHECK_STATE_TABLE(X)
#undef X
        CHECK_STATE_COUNT_
};
extern const char *const check_states[]; /* words, in that order; NULL-terminated */

/* ---- tools ---- */

struct checker {
    const char *language;
    const char *script; /* bash: a function check_LANGUAGE over the array `files` */
    /* The tool for types, and the command that installs it on Debian. NULL: none is known, or it
     * comes with the language. */
    const char *types, *types_install;
    bool untyped; /* an error of its compiler is never about types */
};
/* NULL: no parser for this language is known. */
const struct checker *checker_of(const char *language);

/* ---- the run ---- */

/* The files with code, in order. */
struct check_plan {
    struct check_file {
        char *name;
        const struct language *language;
    } files[CHECKS_FILES_MAX];
    size_t n;
};
void check_plan_done(struct check_plan *p);
/* language NULL: by the name. A file of no language is not code, and is not added. */
[[nodiscard]] int check_plan_add(struct check_plan *p, const char *name,
                                 const struct language *language, struct err *e);
[[nodiscard]] int check_plan_script(const struct check_plan *p, struct buf *out, struct err *e);
/* The arguments of the script, in the order of `languages`: for each language its name, the number of files, and the files. */
[[nodiscard]] int check_plan_args(const struct check_plan *p, char ***ret, struct err *e);

/* ---- the report ---- */

enum { CHECK_TOOL_SIZE = 32 };

/* One tool that has ended, or that is not there. */
struct check_entry {
    char language[LANGUAGE_NAME_SIZE];
    char tool[CHECK_TOOL_SIZE]; /* "-": none is known */
    enum check_step step;
    enum check_state state; /* NONE, OK, SKIPPED, NOT_INSTALLED; or FAILED: see status */
    int status;             /* of FAILED: the exit status of the tool */
    const char *name;       /* the file, or the missing module; may be empty */
    size_t name_len;
    const char *text; /* the output of the tool */
    size_t text_len;
};
struct check_report {
    const char *at, *end;
    bool complete; /* after the last entry */
};
struct check_report check_report_of(const char *text, size_t n);
/* False: there are no more entries, or the rest is no report. */
bool check_report_next(struct check_report *r, struct check_entry *ret);
