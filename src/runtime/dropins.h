/* runtime/dropins.h — languages that are files in a directory. Runs in: main, supervisor, at their
 * start.
 *
 * Invariants
 * DROPINS-1 Only files that root or the running user owns, and that no one else can write, are
 *           read, because a declaration names commands to run.
 * DROPINS-2 A bad file is reported as a problem and does not keep other files from being read. */
#pragma once

#include "base/err.h"
#include "runtime/language.h"

/* Where commands look, unless the environment names another directory. The service has the setting
 * languages.dir. */
#define DROPINS_DIR "/etc/belljar/languages.d"
#define DROPINS_ENV "BELLJAR_LANGUAGES"

enum { DROPINS_FILES_MAX = 256 };

struct dropins {
    struct language *languages[DROPINS_FILES_MAX];
    size_t n;
    char *problems[DROPINS_FILES_MAX];
    size_t n_problems;
};
void dropins_done(struct dropins *d);

/* Reads every NAME.lang of the directory, sorted by name. Fails only if the directory cannot be
 * read. */
[[nodiscard]] int dropins_read(const char *dir, struct dropins *ret, struct err *e);
/* Adds a problem. */
void dropins_problem(struct dropins *d, const struct err *why);
