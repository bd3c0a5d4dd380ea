/* cli/commands/languages_command.h — `belljar languages install` and `prepare`. Runs in: main. */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "runtime/version.h"

/* Facts about each of languages[]. */
struct language_facts {
    char versions[LANGUAGES_MAX][VERSION_SIZE]; /* "": not installed */
    bool chosen[LANGUAGES_MAX];                 /* the caller named it, or named no language */
    bool named;                                 /* the caller named at least one */
};

/* Runs the install commands of the chosen languages, as root or with sudo, and prints each before.
 * Packages of Debian are one command. Asks for the versions again afterwards. */
[[nodiscard]] int languages_install(struct language_facts *f, bool dry_run, struct err *e);

/* Makes the seed of each chosen language that is installed, unless its seed is of this version.
 *
 * Invariants
 * LANGUAGES-1 A seed is whole: it is made beside its place and takes it by one rename.
 * LANGUAGES-2 If several processes prepare a language, one of them makes the seed and the others
 *             wait for it. */
[[nodiscard]] int languages_prepare(const struct language_facts *f, struct err *e);
