/* cli/commands/languages_command.h — what `belljar languages` does beyond showing them. Runs in: main. */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "runtime/version.h"

/* languages[] with what was found out about each. */
struct language_facts {
    char versions[LANGUAGES_MAX][VERSION_SIZE]; /* "": not installed */
    bool chosen[LANGUAGES_MAX];                 /* the caller named it, or named none */
    bool named;                                 /* the caller named some */
};

/* Runs the chosen languages' install commands, those of Debian's packages as one, as root or by sudo, and says so before.
 * Facts are new after it. */
[[nodiscard]] int languages_install(struct language_facts *f, bool dry_run, struct err *e);

/* Makes the seeds of chosen languages that have one, are installed, and whose seed is not of this version.
 *
 * Invariants
 * S1 A seed is whole: it is made beside its place and takes it by one rename.
 * S2 Of several processes that prepare, one makes it and the others wait and find it made. */
[[nodiscard]] int languages_prepare(const struct language_facts *f, struct err *e);
