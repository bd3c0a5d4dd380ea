#include "programs.h"

static const struct language just_true = {
    .name = "true",
    .command = (const char *const[]){ "/bin/true", NULL },
    .env = (const char *const[]){ NULL },
};
static const struct language just_cat = {
    .name = "cat",
    .command = (const char *const[]){ "/bin/cat", NULL },
    .env = (const char *const[]){ NULL },
};

/* As belljar itself starts them, see runtime/. */
extern const struct language language_bash, language_python;

static const char hello_sh[] = "echo hello\n", hello_py[] = "print('hello')\n";

const struct bench_program programs[PROGRAMS] = {
    [PROGRAM_TRUE] = { "true", &just_true, NULL, NULL, 0, "" },
    /* lives until its standard input is closed */
    [PROGRAM_CAT] = { "cat", &just_cat, NULL, NULL, 0, "" },
    [PROGRAM_BASH] = { "bash", &language_bash, "hello.sh", hello_sh, sizeof hello_sh - 1,
                       "hello\n" },
    [PROGRAM_PYTHON] = { "python", &language_python, "hello.py", hello_py, sizeof hello_py - 1,
                         "hello\n" },
};
