/* cli/verify/check.h — one program that `belljar verify` runs and judges: a block of a Markdown
 * file, a source file or a command. Runs in: main. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "cli/verify/words.h"
#include "runtime/language.h"

#define CHECK_KIND_TABLE(X)                                             \
    X(CHECK_CODE,    "block")   /* a program                         */ \
    X(CHECK_CONSOLE, "console") /* "$ command" and its output        */ \
    X(CHECK_DOCTEST, "doctest") /* ">>> expression" and its value    */ \
    X(CHECK_FILE,    "file")    /* a source file                     */ \
    X(CHECK_COMMAND, "command") /* a command beside the caller's files */

#define OUTCOME_TABLE(X)           \
    X(OUTCOME_PENDING, "pending")  \
    X(OUTCOME_PASSED,  "passed")   \
    X(OUTCOME_FAILED,  "failed")   \
    X(OUTCOME_ERROR,   "error") /* it could not be run */ \
    X(OUTCOME_SKIPPED, "skipped")

#define X(id, word) id,
enum check_kind { CHECK_KIND_TABLE(X) };
enum outcome { OUTCOME_TABLE(X) OUTCOME_COUNT_ };
#undef X
const char *check_kind_word(enum check_kind k);
const char *outcome_word(enum outcome o);

/* One output to compare. A console block has a step for each command, any other check has one. */
struct step {
    size_t line;        /* of the command in the file */
    struct buf command; /* of a console block */
    bool compared;      /* an output is expected */
    struct buf expected, got;
    int status;   /* exit status of the command */
    bool reached; /* the command has ended */
};

enum { NO_CHECK = -1 };

struct check {
    char *file;  /* as the caller named it; a command: the command line */
    size_t line; /* of the fence; 0: the check is no block */
    enum check_kind kind;
    const struct language *language; /* NULL: `belljar run` infers it */
    struct buf code;                 /* of a block, without the blocks that it continues */
    struct words words;
    int prior; /* the index of the block that it continues, or NO_CHECK */
    struct step *steps;
    size_t n_steps;
    char marker[40]; /* a line of this text separates the outputs of a console block */

    bool selected; /* the caller wants it */
    enum outcome outcome;
    char why[ERR_TEXT_MAX]; /* one line: a problem, a failure, the reason of a skip */
    json_t *result;         /* of `belljar run --json`; NULL: none */
    json_t *diff;           /* [" same", "-expected", "+printed"] of the first step that differs */
    size_t diff_line;       /* of the expected output in the file */
    uint64_t wall_ms;
};

struct checks {
    struct check *at;
    size_t n;
};
enum { CHECKS_MAX = 10000, VERIFY_FILE_MAX = 16 << 20 };

void checks_done(struct checks *c);
/* A new check with one step, at the end of the list; valid until the next one is added. NULL: e says why. */
struct check *checks_add(struct checks *c, enum check_kind kind, const char *file, size_t line,
                         struct err *e);
/* One more step of the check. NULL if memory ran out. */
struct step *check_add_step(struct check *c, struct err *e);

/* Removes the checks that are not selected. The checks that a selected one continues are. */
void checks_keep_selected(struct checks *c);

/* "README.md:12", or the name alone. */
const char *check_place(const struct check *c, char *out, size_t size);

/* Adds the blocks of a Markdown text that can be run. A block with a mistake is added with the
 * outcome OUTCOME_ERROR. */
[[nodiscard]] int blocks_read(struct checks *all, const char *file, const char *text, size_t len,
                              struct err *e);

/* The nearest block that runs before this one in the same program, or NULL. A block that must fail,
 * or that is not run, is left out. */
const struct check *program_before(const struct checks *all, const struct check *c);
/* The program of a block: the blocks that it continues, then its own code. */
[[nodiscard]] int program_make(const struct checks *all, const struct check *c, struct buf *ret,
                               struct err *e);
/* The place in its file of a line of that program. False: the line is not one of the file. */
bool program_place(const struct checks *all, const struct check *c, size_t program_line,
                   size_t *ret_line);

/* Splits a console block into its commands and their outputs. */
[[nodiscard]] int console_read(struct check *c, const char *text, size_t len, size_t line,
                               struct err *e);
/* Appends the script that runs the commands of the block. */
[[nodiscard]] int console_add_script(const struct check *c, struct buf *script, struct err *e);
/* Gives each step its part of the output. */
[[nodiscard]] int console_split(struct check *c, const char *output, size_t len, struct err *e);

/* Sets the result of a run from the texts that it printed; without a result, the outcome. */
void check_take(struct check *c, const char *result, size_t result_len, const char *message);
/* Sets the outcome, after the run. `prior`: its program_before(), which has run too, or NULL. */
void check_judge(struct check *c, const struct check *prior);
