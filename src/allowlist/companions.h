/* allowlist/companions.h — files that programs load or start in addition to those in their ELF
 * headers. Runs in: keeper; const data. */
#pragma once

#include <stdbool.h>

struct companion {
    const char *of;           /* pattern (fnmatch) of the name of a program or library */
    const char *const *reads; /* patterns (glob) of directories and files; NULL: none */
    /* the same for libraries, whose own dependencies count too; NULL: none */
    const char *const *loads;
    const char *const *starts; /* the same for helpers that it executes; NULL: none */
    bool own_code;             /* it generates machine code */
};
extern const struct companion companions[]; /* a row without `of` ends it */

/* Built into bash or zsh: allowed without a file of that name. */
bool companion_is_builtin(const char *name);
/* Programs with many commands in one file, chosen by the name of the call. */
bool companion_is_many(const char *file_name);
