/* allowlist/companions.h — what programs load or start beyond what their heads say. Runs in: keeper; const data. */
#pragma once

#include <stdbool.h>

struct companion {
    const char *of; /* pattern (fnmatch) of the file's own name, a program's or a library's */
    const char *const *reads; /* patterns (glob) of directories and files; NULL: none */
    const char *const *loads; /* the same, of libraries whose own needs count as well; NULL: none */
    const char *const *starts; /* the same, of helpers that it executes; NULL: none */
    bool own_code;             /* it makes machine code while it runs */
};
extern const struct companion companions[]; /* a row without `of` ends it */

/* What bash or zsh do themselves: allowed without a file of that name. */
bool companion_is_builtin(const char *name);
/* Programs that are many commands in one file, told apart by the name they are called by. */
bool companion_is_many(const char *file_name);
