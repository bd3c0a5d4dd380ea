/* spec/run_options.h — the options of a run that the command line and the API share: one table.
 * Runs in: keeper, main; pure.
 * A row of RUN_OPTION_TABLE feeds the command line, JSON, --help and OpenAPI. A new option is one
 * member, one row, and its use. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "spec/limit.h"

/* How tables are printed. */
#define TABLE_FORMAT_TABLE(X)          \
    X(TABLE_ALIGNED,  "table")         \
    X(TABLE_CSV,      "csv")           \
    X(TABLE_MARKDOWN, "markdown")      \
    X(TABLE_JSON,     "json")          \
    X(TABLE_HTML,     "html")

enum table_format {
#define X(id, word) id,
    TABLE_FORMAT_TABLE(X)
#undef X
        TABLE_FORMAT_COUNT_
};
extern const char *const table_formats[]; /* words, in that order; NULL-terminated */

/* The runners whose output is read as a list of tests (src/suite). */
#define TEST_RUNNER_TABLE(X)               \
    X(TEST_RUNNER_NONE,     "none")        \
    X(TEST_RUNNER_PYTEST,   "pytest")      \
    X(TEST_RUNNER_UNITTEST, "unittest")    \
    X(TEST_RUNNER_NODE,     "node")        \
    X(TEST_RUNNER_GO,       "go")          \
    X(TEST_RUNNER_MINITEST, "minitest")    \
    X(TEST_RUNNER_CTEST,    "ctest")       \
    X(TEST_RUNNER_RSPEC,    "rspec")       \
    X(TEST_RUNNER_CARGO,    "cargo")       \
    X(TEST_RUNNER_JEST,     "jest")        \
    X(TEST_RUNNER_VITEST,   "vitest")

enum test_runner {
#define X(id, word) id,
    TEST_RUNNER_TABLE(X)
#undef X
        TEST_RUNNER_COUNT_
};
extern const char *const test_runners[]; /* words, in that order; NULL-terminated */

/* Whether a program that fails tells the values of its variables. */
#define VALUES_TABLE(X)        \
    X(VALUES_AUTO, "auto")     \
    X(VALUES_NONE, "none")     \
    X(VALUES_ALL,  "all")

enum values {
#define X(id, word) id,
    VALUES_TABLE(X)
#undef X
        VALUES_COUNT_
};
extern const char *const values_words[]; /* words, in that order; NULL-terminated */

/* Whether the suggestions for a failed run are tried. */
#define FIXES_TABLE(X)                             \
    X(FIXES_NONE,        "none")                   \
    X(FIXES_TRY,         "try")                    \
    X(FIXES_TRY_NETWORK, "try_with_network")

enum fixes {
#define X(id, word) id,
    FIXES_TABLE(X)
#undef X
        FIXES_COUNT_
};
extern const char *const fixes_words[]; /* words, in that order; NULL-terminated */

struct run_options {
    bool profile;     /* report where time and memory go */
    bool display;     /* keep figures, frames and other displays as MIME bundles */
    bool check_types; /* an error of types is a compile error */
    bool no_cache;    /* compile again, and store nothing */
    enum table_format format;
    enum test_runner test_runner; /* the program runs tests with it */
    bool check;                   /* the program reports a check of code (src/checks) */
    enum values values;           /* of variables, in the diagnosis of a failure */
    enum fixes fixes;             /* of the service: changed programs run after a failure */
    char **allow_commands; /* the only commands that a shell may execute; NULL: every command */
    char **compiler_args;  /* after the compiler's own; NULL: none */
    struct limits compile_limits;
    limit_set compile_limits_given; /* by the caller; the others are defaults */
};
void run_options_done(struct run_options *o);

enum run_option_kind {
    RUN_OPTION_BOOL,   /* bool. JSON: true or false. Command line: no value */
    RUN_OPTION_LIST,   /* char **. JSON: a list of strings. Command line: can be repeated */
    RUN_OPTION_CHOICE, /* an enum, the index of one of `words`; 0 is the default */
    RUN_OPTION_LIMITS, /* struct limits. JSON: as `limits`. Command line: LIMIT=VALUE, repeated */
};

struct run_option_def {
    const char *key;     /* in JSON */
    const char *aliases; /* other keys that callers use, with commas; NULL: none */
    const char *option;  /* on the command line, without the dashes; NULL: not there */
    const char *metavar; /* NULL: it takes no value */
    enum run_option_kind kind;
    size_t offset;            /* in struct run_options */
    const char *const *words; /* of a choice */
    unsigned max;             /* of a list: strings in JSON */
    const char *help;         /* for --help and OpenAPI */
    const char *example;      /* for --help; NULL: none */
};

/* key, aliases, option, metavar, kind, member, words, max, help, example */
#define RUN_OPTION_TABLE(X)                                                                      \
    X("compiler_args", "compiler_options,compile_args,compiler_flags", "compiler-arg", "ARG",    \
      LIST, compiler_args, NULL, 100, "arguments for the compiler", "-O3")                       \
    X("compile_limits", NULL, "compile-limit", "LIMIT=N",                                        \
      LIMITS, compile_limits, NULL, 0, "limits of the compiler", "timeout=60s")                  \
    X("no_cache", NULL, "no-cache", NULL,                                                        \
      BOOL, no_cache, NULL, 0,                                                                   \
      "compile again even if the program is cached, and store nothing in the cache", NULL)       \
    X("check_types", NULL, "check-types", NULL,                                                  \
      BOOL, check_types, NULL, 0, "TypeScript: type errors are compile errors", NULL)            \
    X("allow_commands", "allowed_commands,commands", "allow-command", "NAME",                    \
      LIST, allow_commands, NULL, 200,                                                           \
      "bash and zsh: the only commands that the program may execute", "ls")                      \
    X("format", NULL, "format", "FORMAT",                                                        \
      CHOICE, format, table_formats, 0, "SQL: the format of printed tables", NULL)               \
    X("profile", NULL, "profile", NULL,                                                          \
      BOOL, profile, NULL, 0, "report where time and memory go", NULL)                           \
    X("display", NULL, "display", NULL,                                                          \
      BOOL, display, NULL, 0,                                                                    \
      "Python: run as a cell of a session, and keep its displays: figures, tables, HTML", NULL) \
    X("test_runner", NULL, "test-runner", "NAME",                                                \
      CHOICE, test_runner, test_runners, 0,                                                      \
      "read the output as the report of this test runner; the result has `tests`", NULL)         \
    X("checks", NULL, NULL, NULL,                                                                \
      BOOL, check, NULL, 0,                                                                      \
      "read the output as the report of POST /v1/checks; the result has `checks`", NULL) \
    X("values", NULL, "values", "MODE",                                                          \
      CHOICE, values, values_words, 0,                                                           \
      "values of variables at a failure: auto, where that costs nothing; none; or all, also in " \
      "JavaScript, TypeScript, Ruby and a cold Python, which are slower then", NULL)                   \
    X("fixes", "fix", NULL, NULL,                                                                \
      CHOICE, fixes, fixes_words, 0,                                                             \
      "try: if the program fails, run it with each suggested line; the result has `fixes`. "     \
      "try_with_network: also if it has a network", NULL)

enum {
#define X(key, ...) +1
    RUN_OPTION_COUNT = 0 RUN_OPTION_TABLE(X)
#undef X
};
extern const struct run_option_def run_option_defs[RUN_OPTION_COUNT];

/* The member that a row describes: a bool *, char ***, unsigned * or struct limits *, by its
 * kind. */
void *run_option_of(struct run_options *o, const struct run_option_def *d);
const void *run_option_of_const(const struct run_options *o, const struct run_option_def *d);

/* Whether the value is not the default. */
bool run_option_is_given(const struct run_options *o, const struct run_option_def *d);

/* LIMIT=VALUE, such as timeout=60s, of the option with this name: the options of limits are LIMITs. */
[[nodiscard]] int run_limit_parse(const char *option, const char *value, struct limits *limits,
                                  limit_set *given, struct err *e);

/* Sets an option from a word of the command line; of a bool, value is NULL. */
[[nodiscard]] int run_option_parse(struct run_options *o, const struct run_option_def *d,
                                   const char *value, struct err *e);

/* The service keeps so many bytes of each stream of a compiler in memory: the most that a caller
 * may ask for there. */
#define COMPILE_OUTPUT_MAX (4ULL << 20)
